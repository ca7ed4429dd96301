// Sentences of ardoise, on standard error, a line each: "ardoise: …" of a launch, "ardoise status: …" of a command.
// Standard output carries only the programs' own output, the summary and what commands print. Either is printable
// whatever names, paths and files hold.
#pragma once

#include <fmt/format.h>

#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include "reports/text/utf8.hpp"

namespace ardoise::launcher {

// The speaker; main() sets it before anything is said.
inline std::string& speaker() {
  static std::string name = "ardoise";
  return name;
}

template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  std::cout.flush();
  std::cerr << speaker() + ": " + reports::printable(fmt::format(format, std::forward<Args>(args)...)) + '\n'
            << std::flush;
}

// What a command prints, of several lines. False, and said: it could not be written.
[[nodiscard]] inline bool print(std::string_view text) {
  if (std::cout << reports::printable_lines(text) << std::flush) return true;
  say("Cannot write to standard output.");
  return false;
}

}  // namespace ardoise::launcher
