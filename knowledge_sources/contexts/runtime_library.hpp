// Libraries of the compiler and the C library: users know the functions that they call there, not their internals.
#pragma once

#include <string>
#include <string_view>

namespace ardoise::knowledge_sources {

[[nodiscard]] bool is_runtime_library(std::string_view path);

// The name under which programs call a function of such a library: "sin" of "__sin_fma".
[[nodiscard]] std::string entry_name(const std::string& symbol);

}  // namespace ardoise::knowledge_sources
