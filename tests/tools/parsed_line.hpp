// Parses a launch line from words separated by blanks.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "tools/ardoise/launch/launch_line.hpp"

namespace ardoise::launcher {

inline LaunchLine parsed_line(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return parse_launch_line(words);
}

}  // namespace ardoise::launcher
