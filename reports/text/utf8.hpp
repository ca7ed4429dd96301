// Text from programs (names, paths, arguments) may be any bytes. These functions make it safe to show and to measure.
// Used by the JSON writer, the summary and the LaTeX report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ardoise::reports {

// The next code point of `text` at `at`, which moves behind it; U+FFFD for each byte that is not well-formed UTF-8
// (overlong forms, surrogates and values above U+10FFFF are not). Requires at < text.size().
[[nodiscard]] char32_t next_code_point(std::string_view text, std::size_t& at);

void append_utf8(std::string& out, char32_t code_point);

// The same text as valid UTF-8.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// For a terminal or one line of text: valid UTF-8, control characters shown as U+FFFD, so that no name can move the
// cursor. C0 and C1 are these, ends of lines, and what changes the direction of writing or is invisible. All that a
// program, a file or its name can choose goes through this function or the next two before it is printed.
[[nodiscard]] std::string printable(std::string_view text);

// The same of several lines: their ends stay.
[[nodiscard]] std::string printable_lines(std::string_view text);

// For data that a terminal may show (CSV): valid UTF-8, without those characters.
[[nodiscard]] std::string without_controls(std::string_view text);

// Columns on a terminal: 0 for combining marks and control characters, 2 for East Asian wide characters and emoji.
[[nodiscard]] std::size_t display_width(std::string_view text);

// At most `columns` wide: the middle is replaced by "…" where it is longer (both ends of a path or symbol say
// something).
[[nodiscard]] std::string shortened(std::string_view text, std::size_t columns);

}  // namespace ardoise::reports
