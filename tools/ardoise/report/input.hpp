// Classifies the PATH of `ardoise report` and `ardoise export`: a profile, a trace in OTF2 or captured packs.
#pragma once

#include <string>

namespace ardoise::launcher {

enum class InputKind { kProfile, kTrace, kCapture };

// A folder with a profile, or of a launch that has none yet, counts as a profile whatever else it contains. Throws
// UsageError for a path that does not exist or is none of these.
[[nodiscard]] InputKind kind_of_input(const std::string& path);

}  // namespace ardoise::launcher
