// The summary of a document as plain text, for standard output and summary.txt: at most kSummaryLines lines of 100
// columns, whatever the run. Where room is short, tables become shorter together; then sections are left out, the
// least important first; then notes and findings, which are counted. No sentence is cut.
#pragma once

#include <string>

#include "reports/document/document.hpp"

namespace ardoise::reports {

// Fits a terminal on half of a usual display, and one page of paper or mail.
inline constexpr std::size_t kSummaryLines = 40;

[[nodiscard]] std::string summary_text(const Document& document);

// A table as text. Cells are measured as a terminal shows them; a cell wider than its column is shortened in the
// middle. Every line starts with `indent` and ends without blanks.
[[nodiscard]] std::string text_table(const Table& table, const std::string& indent);
// `text` in lines of at most `width` columns. The first line begins with `first`, the others with as many blanks. Words
// longer than a line are broken.
[[nodiscard]] std::string wrapped(const std::string& text, const std::string& first, std::size_t width);

}  // namespace ardoise::reports
