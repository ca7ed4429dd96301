// Names of functions in binaries as people wrote them.
#pragma once

#include <string>

namespace ardoise::knowledge_sources {

// C++ names are demangled; what the compiler appends to copies of a function is left out. Parts that it made of an
// OpenMP region say so: "solve(int) [OpenMP region 1]".
[[nodiscard]] std::string readable_symbol(const std::string& symbol);

}  // namespace ardoise::knowledge_sources
