// Names of functions in binaries as in the source.
#pragma once

#include <string>

namespace ardoise::knowledge_sources {

// C++ names are demangled; suffixes that the compiler adds to copies of a function are dropped. Functions made from an
// OpenMP region are marked: "solve(int) [OpenMP region 1]".
[[nodiscard]] std::string readable_symbol(const std::string& symbol);

}  // namespace ardoise::knowledge_sources
