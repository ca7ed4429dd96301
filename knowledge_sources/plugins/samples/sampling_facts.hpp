// Reports of a program's samplers about themselves: sampled events, rate changes and their reasons, number and cost of
// samples. They come from the definitions of its level. Memory: ranks x threads, and for each followed rank at most
// kChanges changes: the first and the last ones.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "instrument/format/definition_reader.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/containers/sorted_sums.hpp"

namespace ardoise::knowledge_sources {

struct ThreadTotals {
  std::uint32_t key;  // the thread
  std::uint32_t reserved = 0;
  std::uint64_t taken = 0, stored = 0, discarded = 0, partial = 0, lost = 0, cost_ticks = 0, thread_ticks = 0;
  // Cumulative: the record with the greatest thread_ticks counts.
  void add(const ThreadTotals& other) {
    if (std::tuple(other.thread_ticks, other.taken, other.cost_ticks) > std::tuple(thread_ticks, taken, cost_ticks)) {
      *this = other;
    }
  }
};

struct SamplingChange {
  std::uint64_t tick;
  std::uint32_t thread, cause, lowest_level, free_bins;
  double hertz;
  friend constexpr auto operator<=>(const SamplingChange&, const SamplingChange&) = default;
};

class SamplingFacts {
 public:
  static constexpr std::size_t kChanges = 256;

  // The counters of one rank.
  struct Counters {
    bool known = false;
    instrument::SampleUnit unit = instrument::SampleUnit::kCpuNanoseconds;
    std::string event;
    std::vector<std::string> names;
    friend bool operator==(const Counters&, const Counters&) = default;
  };

  // `step`: ranks 0, step, 2 x step … are followed.
  SamplingFacts(std::uint32_t ranks, std::uint32_t step) : step_(step), ranks_(ranks) {}

  // The caller holds the rank's lock.
  void add(std::uint32_t rank, const instrument::Definition& definition);

  [[nodiscard]] const Counters& counters(std::uint32_t rank) const { return ranks_[rank].counters; }
  [[nodiscard]] const std::vector<ThreadTotals>& totals(std::uint32_t rank) const { return ranks_[rank].totals; }
  [[nodiscard]] const std::vector<SamplingChange>& changes(std::uint32_t rank) const { return ranks_[rank].changes; }
  [[nodiscard]] std::uint64_t left_out() const;  // changes missing in changes()

  void merge(const SamplingFacts& other);
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one

 private:
  struct Rank {
    Counters counters;
    std::vector<ThreadTotals> totals;     // by thread
    std::vector<SamplingChange> changes;  // sorted
    std::uint64_t all_changes = 0;
  };
  static void keep(Rank& rank, const SamplingChange& change);
  static void set(Counters& into, const Counters& counters);

  std::uint32_t step_;
  std::vector<Rank> ranks_;
};

}  // namespace ardoise::knowledge_sources
