// Tables of text with aligned columns, for the summary. Cells are measured as a terminal shows them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ardoise::reports {

struct TextColumn {
  std::string head;
  bool number = false;      // aligned right
  std::size_t most = 1000;  // columns on the terminal; longer cells are shortened in the middle
};

// Each row has as many cells as there are columns. Every line starts with `indent` and ends without blanks.
[[nodiscard]] std::string text_table(const std::vector<TextColumn>& columns,
                                     const std::vector<std::vector<std::string>>& rows, const std::string& indent);

// `text` in lines of at most `width` columns, the first after `first`, the others after as many blanks. Words longer
// than a line are broken.
[[nodiscard]] std::string wrapped(const std::string& text, const std::string& first, std::size_t width);

}  // namespace ardoise::reports
