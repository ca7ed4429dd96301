// What OTF2's reader complains about: kept for the thread, not printed.
#pragma once

#include <string>

namespace ardoise::knowledge_sources {

// From now on, in all threads. OTF2 has one receiver of complaints for the whole process: the last one to be registered
// gets them.
void keep_otf2_complaints();
// The first complaint of this thread since the last call, or "": "Searching for string's terminating null byte failed".
[[nodiscard]] std::string take_otf2_complaint();

}  // namespace ardoise::knowledge_sources
