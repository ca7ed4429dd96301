// Makes the command line of a command of ardoise from its words.
#pragma once

#include <string>
#include <vector>

#include "tools/ardoise/common/command_line.hpp"

namespace ardoise::launcher {

inline CommandLine line_of(const std::vector<std::string>& words) {
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  return {static_cast<int>(argv.size()), argv.data()};
}

}  // namespace ardoise::launcher
