// The PATH of `ardoise report` and `ardoise export`: a profile, a trace in OTF2 or captured packs.
#pragma once

#include <string>

namespace ardoise::launcher {

enum class InputKind { kProfile, kTrace, kCapture };

// A folder with a profile, or of a launch that left none yet, is a profile whatever else is in it. Throws UsageError
// for what is not there, or is none of these.
[[nodiscard]] InputKind kind_of_input(const std::string& path);

}  // namespace ardoise::launcher
