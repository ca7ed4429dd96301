// Ranks in step: those with the most common number of rounds of a series, plus or minus one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ardoise::knowledge_sources {

// The most frequent value, and of several the greatest.
template <class Value>
[[nodiscard]] Value mode_of(const std::vector<Value>& values) {
  std::map<Value, std::size_t> votes;
  for (const Value& each : values) ++votes[each];
  return std::ranges::max_element(votes, {}, [](const auto& each) { return std::pair(each.second, each.first); })
      ->first;
}

[[nodiscard]] constexpr bool are_about_as_many(std::uint64_t a, std::uint64_t b) { return a + 1 >= b && a <= b + 1; }

}  // namespace ardoise::knowledge_sources
