// Complaints of OTF2's reader: kept for each thread, not printed.
#pragma once

#include <string>

namespace ardoise::knowledge_sources {

// In all threads from now on. OTF2 has one error callback for the whole process: the last one registered.
void keep_otf2_complaints();
// The first complaint of this thread since the last call, or "": "Searching for string's terminating null byte failed".
[[nodiscard]] std::string take_otf2_complaint();

}  // namespace ardoise::knowledge_sources
