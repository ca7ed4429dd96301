#include "tools/ardoise/common/similar_name.hpp"

#include <algorithm>
#include <vector>

namespace ardoise::launcher {

// Optimal string alignment: Levenshtein's distance with swaps of neighbours.
std::size_t typing_errors(std::string_view typed, std::string_view meant) {
  const std::size_t columns = meant.size() + 1;
  std::vector<std::size_t> table((typed.size() + 1) * columns);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return table[i * columns + j]; };
  for (std::size_t i = 0; i <= typed.size(); ++i) {
    for (std::size_t j = 0; j <= meant.size(); ++j) {
      if (i == 0 || j == 0) {
        at(i, j) = i + j;
        continue;
      }
      const bool equal = typed[i - 1] == meant[j - 1];
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (equal ? 0 : 1)});
      if (i > 1 && j > 1 && typed[i - 1] == meant[j - 2] && typed[i - 2] == meant[j - 1])
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return table.back();
}

std::string_view similar_name(std::string_view typed, std::span<const std::string_view> names) {
  constexpr std::size_t kMostErrors = 2;
  const auto nearest =
      std::ranges::min_element(names, {}, [&](std::string_view each) { return typing_errors(typed, each); });
  if (nearest == names.end()) return "";
  const std::size_t errors = typing_errors(typed, *nearest);
  return errors <= kMostErrors && 2 * errors < typed.size() ? *nearest : "";
}

}  // namespace ardoise::launcher
