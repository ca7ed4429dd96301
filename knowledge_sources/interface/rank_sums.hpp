// Sums for each rank by a key (a function, a peer, a file), added up while packs arrive, merged over analyzers and read
// at the end. Memory: ranks x keys that they used, an Entry each.
//
// Sums is trivially copyable and has add(const Sums& more, std::uint64_t times); a pack usually has fewer than 2^Bits
// keys. Keys are not 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "instrument/format/event_format.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/containers/pack_table.hpp"
#include "knowledge_sources/containers/rank_locks.hpp"
#include "knowledge_sources/containers/sorted_sums.hpp"

namespace ardoise::knowledge_sources {

template <class Sums, unsigned Bits>
class RankSums {
 public:
  using Scratch = PackTable<Sums, Bits>;  // of one pack, in a worker's own memory
  struct Entry {
    std::uint64_t key;
    Sums sums;
    void add(const Entry& more) { sums.add(more.sums, 1); }
  };

  explicit RankSums(std::uint32_t ranks) : ranks_(ranks) {}

  // The sums of `key` in the scratch memory for a pack of `header`; if that is full, it is added here first.
  [[nodiscard]] Sums& at(Scratch& scratch, const instrument::PackHeader& header, std::uint64_t key) {
    return scratch.at(key, [&](Scratch& full) { add(header, full); });
  }
  // Adds a pack's sums, times its weight, and clears them. Any thread.
  void add(const instrument::PackHeader& header, Scratch& scratch) {
    std::vector<Entry> more;
    scratch.for_each([&](std::uint64_t key, const Sums& sums) {
      more.push_back({key, {}});
      more.back().sums.add(sums, header.weight);
    });
    scratch.clear();
    std::ranges::sort(more, {}, &Entry::key);
    const auto guard = locks_.lock(header.rank);
    add_sums(ranks_[header.rank], more);
  }

  // Nothing runs concurrently with these.
  [[nodiscard]] const std::vector<Entry>& of(std::uint32_t rank) const { return ranks_[rank]; }  // sorted by key
  void merge(const RankSums& other) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) add_sums(ranks_[rank], other.ranks_[rank]);
  }
  void write(ByteWriter& out) const {
    out.put_count(ranks_.size());
    for (const auto& entries : ranks_) out.put_array(std::span<const Entry>(entries));
  }
  void read(ByteReader& in) {  // into an empty one
    in.check(in.get_count(sizeof(std::uint64_t)) == ranks_.size(), "belongs to a program with another number of ranks");
    for (auto& entries : ranks_) {
      entries = in.get_array<Entry>();
      in.check(is_summed_up(entries), "lists sums out of order");
    }
  }

 private:
  std::vector<std::vector<Entry>> ranks_;
  RankLocks locks_;
};

}  // namespace ardoise::knowledge_sources
