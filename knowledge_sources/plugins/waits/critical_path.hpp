// The chain of work that determined how long the run took: from the last rank to end, back in time; where a rank had
// waited for another one, on in that one, at the time at which it came (Böhme, Wolf et al., Scalable critical-path
// based performance analysis, IPDPS 2012; there by a replay of traces).
//
//   rank 0   ======~~~~~~~|=====~~~~~|==|        =: works, ~: waits, |: the one that it waited for has come
//   rank 1   =============|==========|..|        path: rank 1 up to the end of its wait's cause, and so on
//
// It needs of each wait only who, for whom, and until when: a *jump*. Memory: at most kMostJumps. Beyond that, what has
// been decided is settled: from some moment in the middle one goes back from all ranks at once, and where all ways have
// met, every path comes by. Before that place the path is known, and its jumps can go. Where the ways do not meet, the
// older half of the jumps is given up, and that part of the run is told as unsettled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/plugins/waits/time_grid.hpp"

namespace ardoise::knowledge_sources {

// Times in ns on the program's time axis. Not thread safe.
class CriticalPath {
 public:
  explicit CriticalPath(std::uint32_t ranks, std::size_t most_jumps = std::size_t{1} << 21);

  // `waiter` went on at `time`, when `awaited` came.
  void add(std::uint32_t waiter, std::uint32_t awaited, std::int64_t time) {
    if (time <= settled_to_) return count_late(time);
    jumps_[waiter].push_back({time, awaited});
    if (++count_ >= most_) settle();
  }
  // About so many jumps at most; what comes before them is unsettled then.
  void keep_latest(std::size_t most);
  // Of another analyzer, which has jumps of its own.
  void merge(const CriticalPath& other);
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one

  struct Path {
    GridValues<std::uint32_t> rank_at;         // that it is in, plus 1; 0: not known
    std::vector<std::uint64_t> ns_by_rank;     // exact; the sum of these and of unsettled_ns is the path's length
    std::uint64_t unsettled_ns = 0, late = 0;  // late: waits that became known after their time was settled
  };
  // Up to where the last rank ends, from where the rank that it comes from began; begins: by rank, empty: at 0. Uses up
  // what is here.
  [[nodiscard]] Path take_path(std::uint32_t last_rank, std::int64_t end, std::span<const std::int64_t> begins = {});

 private:
  static constexpr std::uint32_t kNoFirst = 0xFFFFFFFF;
  struct Jump {
    std::int64_t time;
    std::uint32_t awaited;
    std::uint32_t reserved = 0;
  };
  struct Place {
    std::uint32_t rank;
    std::int64_t time;
  };
  class Walker;
  void count_late(std::int64_t time) { late_ += time > 0 ? 1 : 0; }
  void settle();
  void sort();
  [[nodiscard]] std::int64_t middle() const;
  // Where the ways back from all ranks have met; {0, settled_to_}: nowhere.
  [[nodiscard]] Place meeting_before(std::int64_t time) const;
  void forget_until(std::int64_t time);
  void give_up_until(std::int64_t time);

  std::size_t most_;
  std::vector<std::vector<Jump>> jumps_;  // by waiter; in order of time when sorted
  std::size_t count_ = 0;
  std::int64_t settled_to_ = 0;
  std::uint32_t first_rank_ = kNoFirst;  // where the settled part comes from
  std::uint64_t unsettled_ns_ = 0, late_ = 0;
  std::vector<std::uint64_t> ns_by_rank_;  // settled
  GridValues<std::uint32_t> rank_at_;      // likewise
};

}  // namespace ardoise::knowledge_sources
