// Sentences of ardoise, on standard error, a line each: "ardoise: …" of a launch, "ardoise status: …" of a command.
// Standard output carries only the programs' own output, the summary and what commands print.
#pragma once

#include <fmt/format.h>

#include <iostream>
#include <string>
#include <utility>

namespace ardoise::launcher {

// The speaker; main() sets it before anything is said.
inline std::string& speaker() {
  static std::string name = "ardoise";
  return name;
}

template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  std::cout.flush();
  std::cerr << speaker() + ": " + fmt::format(format, std::forward<Args>(args)...) + '\n' << std::flush;
}

}  // namespace ardoise::launcher
