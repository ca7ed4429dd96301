// Words as one line that a shell splits into the same words. Header only: the launcher quotes launch lines, a plug-in
// the command lines of programs.
#pragma once

#include <string>
#include <string_view>

namespace ardoise::reports {

// `words`: a list of strings or of string_views.
[[nodiscard]] std::string shell_quote(const auto& words) {
  // "…" stands for hidden words.
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_…";
  std::string line;
  for (const std::string_view word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace ardoise::reports
