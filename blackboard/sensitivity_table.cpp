#include "blackboard/sensitivity_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "blackboard/source.hpp"

namespace ardoise::blackboard {

SensitivityTable::SensitivityTable(std::span<Source* const> sources) {
  std::vector<std::pair<EntryType, Match>> pairs;
  for (Source* const source : sources) {
    for (std::size_t kind = 0; kind < source->kinds(); ++kind) pairs.push_back({source->kind(kind), {source, kind}});
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });

  const std::size_t size = std::bit_ceil(2 * pairs.size() + 2);
  mask_ = size - 1;
  buckets_.resize(size);
  matches_.reserve(pairs.size());
  for (std::size_t i = 0; i < pairs.size();) {
    const EntryType type = pairs[i].first;
    std::size_t at = place(type);
    while (buckets_[at].count != 0) at = (at + 1) & mask_;
    buckets_[at] = {type, static_cast<std::uint32_t>(i), 0};
    for (; i < pairs.size() && pairs[i].first == type; ++i, ++buckets_[at].count) matches_.push_back(pairs[i].second);
  }
}

}  // namespace ardoise::blackboard
