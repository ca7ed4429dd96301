// Any text as LaTeX that shows it: specials escaped, characters without a glyph replaced visibly (the preamble's \U
// decides that when LaTeX runs), control characters and broken UTF-8 shown as U+FFFD, breaks allowed so that no line
// overflows. Everything that comes from a program or a plug-in passes through here. Used by latex_*.cpp.
#pragma once

#include <string>
#include <string_view>

namespace ardoise::reports {

// For sentences. Words of more than 24 characters may break anywhere.
[[nodiscard]] std::string latex(std::string_view text);

// For names, paths and commands: typewriter; breaks after punctuation and inside long words.
[[nodiscard]] std::string latex_code(std::string_view text, std::size_t most_columns = 400);

// For PDF bookmarks: letters, digits and a little punctuation, the rest as blanks.
[[nodiscard]] std::string latex_bookmark(std::string_view text);

}  // namespace ardoise::reports
