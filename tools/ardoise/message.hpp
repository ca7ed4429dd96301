// What the launcher says, on standard error, a line each: "ardoise: …". Standard output carries only the programs' own
// output and the summary.
#pragma once

#include <fmt/format.h>

#include <iostream>
#include <utility>

namespace ardoise::launcher {

template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  std::cout.flush();
  std::cerr << "ardoise: " + fmt::format(format, std::forward<Args>(args)...) + '\n' << std::flush;
}

}  // namespace ardoise::launcher
