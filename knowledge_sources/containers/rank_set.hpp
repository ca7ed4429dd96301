// A set of ranks as a bit field of the length that its highest rank needs. Not thread safe.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace ardoise::knowledge_sources {

class RankSet {
 public:
  RankSet() = default;
  explicit RankSet(std::vector<std::uint64_t> words) : words_(std::move(words)) {}

  void insert(std::uint32_t rank) {
    const std::size_t word = rank / 64;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= std::uint64_t{1} << rank % 64;
  }
  void insert(const RankSet& other) {
    words_.resize(std::max(words_.size(), other.words_.size()));
    for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }
  [[nodiscard]] std::uint32_t count() const {
    std::uint32_t ranks = 0;
    for (const auto word : words_) ranks += static_cast<std::uint32_t>(std::popcount(word));
    return ranks;
  }
  // 0 for an empty set.
  [[nodiscard]] std::uint32_t first() const {
    const auto word = std::ranges::find_if(words_, [](std::uint64_t each) { return each != 0; });
    if (word == words_.end()) return 0;
    return static_cast<std::uint32_t>(64 * (word - words_.begin()) + std::countr_zero(*word));
  }
  [[nodiscard]] std::uint32_t last() const {
    std::size_t end = words_.size();
    while (end != 0 && words_[end - 1] == 0) --end;
    if (end == 0) return 0;
    return static_cast<std::uint32_t>(64 * end - 1) - static_cast<std::uint32_t>(std::countl_zero(words_[end - 1]));
  }
  [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace ardoise::knowledge_sources
