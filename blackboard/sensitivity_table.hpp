// The hash table from entry type to the sources sensitive to it. Immutable: add() and remove() build a new one,
// submit() reads the current one in a read section (read_domain.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "blackboard/entry_type.hpp"

namespace ardoise::blackboard {

class Source;

struct Match {
  Source* source;
  std::size_t kind;  // for Source::offer
};

// Open addressing with linear probing, at most half full; the matches of one type are contiguous, in the order of the
// sources passed. Thread safety: const.
class SensitivityTable {
 public:
  explicit SensitivityTable(std::span<Source* const> sources);

  [[nodiscard]] std::span<const Match> find(EntryType type) const noexcept {
    for (std::size_t at = place(type);; at = (at + 1) & mask_) {
      const Bucket& bucket = buckets_[at];
      if (bucket.count == 0) return {};
      if (bucket.type == type) return {matches_.data() + bucket.first, bucket.count};
    }
  }

 private:
  struct Bucket {
    EntryType type;
    std::uint32_t first = 0;
    std::uint32_t count = 0;  // 0: free
  };
  // Types are already hashes; the fold uses all bits when types are numbered by hand.
  [[nodiscard]] std::size_t place(EntryType type) const noexcept { return (type.value ^ (type.value >> 32)) & mask_; }

  std::size_t mask_;
  std::vector<Bucket> buckets_;
  std::vector<Match> matches_;
};

}  // namespace ardoise::blackboard
