// Prints messages of ardoise to standard error, a line each: "ardoise: …" for a launch, "ardoise status: …" for a
// command. Standard output carries only the programs' output, the summary and what commands print. Both are printable
// whatever bytes names, paths and files contain.
#pragma once

#include <fmt/format.h>

#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include "reports/text/utf8.hpp"

namespace ardoise::launcher {

// Prefix of the messages. main() sets it before the first message.
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

// Prints the output of a command, of one or more lines. Returns false, after a message, if it could not be written.
[[nodiscard]] inline bool print(std::string_view text) {
  if (std::cout << reports::printable_lines(text) << std::flush) return true;
  say("Cannot write to standard output.");
  return false;
}

}  // namespace ardoise::launcher
