// Text from programs (names, paths, arguments) may be any bytes. These functions make it safe to show and measure. Used
// by the JSON writer, the summary and the LaTeX report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ardoise::reports {

// Returns the code point at `at` and moves `at` behind it. U+FFFD for each byte that is not well-formed UTF-8 (also
// overlong forms, surrogates, values above U+10FFFF). Requires at < text.size().
[[nodiscard]] char32_t next_code_point(std::string_view text, std::size_t& at);

void append_utf8(std::string& out, char32_t code_point);

// The text as valid UTF-8.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// For a terminal or one line of text: valid UTF-8 with control characters as U+FFFD, so that no name can move the
// cursor. Control characters are C0, C1, line ends, invisible characters and those that change the writing direction.
// All text chosen by a program or a file must pass through this function or one of the next two before it is printed.
[[nodiscard]] std::string printable(std::string_view text);

// Likewise for several lines: keeps line ends.
[[nodiscard]] std::string printable_lines(std::string_view text);

// For data that a terminal may show (CSV): valid UTF-8 without control characters.
[[nodiscard]] std::string without_controls(std::string_view text);

// Columns on a terminal: 0 for combining marks and control characters, 2 for East Asian wide characters and emoji.
[[nodiscard]] std::size_t display_width(std::string_view text);

// At most `columns` wide: a longer text keeps both ends and gets "…" in the middle.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t columns);

}  // namespace ardoise::reports
