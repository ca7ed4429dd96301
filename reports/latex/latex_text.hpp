// Converts any text to LaTeX: escapes special characters, replaces characters without a glyph visibly (the preamble's
// \U, when LaTeX runs), shows control characters and broken UTF-8 as U+FFFD, allows line breaks. All text from programs
// and plug-ins must pass through these functions. Used by latex_*.cpp.
#pragma once

#include <string>
#include <string_view>

namespace ardoise::reports {

// For sentences. Words of more than 24 characters may break anywhere.
[[nodiscard]] std::string latex(std::string_view text);

// For names, paths and commands: typewriter; breaks after punctuation and inside long words.
[[nodiscard]] std::string latex_code(std::string_view text, std::size_t most_columns = 400);

// For PDF bookmarks: letters, digits and some punctuation; other characters become blanks.
[[nodiscard]] std::string latex_bookmark(std::string_view text);

}  // namespace ardoise::reports
