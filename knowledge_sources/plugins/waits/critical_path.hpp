// The critical path: the chain of work that determined the run time. From the last rank to end, back in time; where a
// rank had waited for another one, it continues there, at the time at which that rank arrived (Böhme, Wolf et al.,
// Scalable critical-path based performance analysis, IPDPS 2012; there by replaying traces).
//
//   rank 0   ======~~~~~~~|=====~~~~~|==|        =: works, ~: waits, |: the awaited rank has arrived
//   rank 1   =============|==========|..|        path: rank 1 up to the end of its wait's cause, and so on
//
// It needs only the two ranks and the end of each wait: a *jump*. Memory: at most kMostJumps. Beyond that, the decided
// part is settled: from a moment in the middle, walks go back from all ranks at once, and every path passes the point
// where all walks have met. The path before that point is known, and its jumps are dropped. If the walks do not meet,
// the older half of the jumps is dropped, and that part of the run is reported as unsettled.
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

  // `waiter` continued at `time`, when `awaited` arrived.
  void add(std::uint32_t waiter, std::uint32_t awaited, std::int64_t time) {
    if (time <= settled_to_) return count_late(time);
    jumps_[waiter].push_back({time, awaited});
    if (++count_ >= most_) settle();
  }
  // Keeps about this many jumps; the time before them becomes unsettled.
  void keep_latest(std::size_t most);
  // Merges the path of another analyzer. No jump is on both.
  void merge(const CriticalPath& other);
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one

  struct Path {
    GridValues<std::uint32_t> rank_at;         // rank of the path, plus 1; 0: unknown
    std::vector<std::uint64_t> ns_by_rank;     // exact; the sum of these and of unsettled_ns is the path's length
    std::uint64_t unsettled_ns = 0, late = 0;  // late: waits that became known after their time was settled
  };
  // From the start of the path's first rank to the end of the last rank; begins: by rank, empty: all 0. Consumes the
  // jumps.
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
  // The point where the walks back from all ranks have met; {0, settled_to_}: none.
  [[nodiscard]] Place common_point_before(std::int64_t time) const;
  void forget_until(std::int64_t time);
  void give_up_until(std::int64_t time);

  std::size_t most_;
  std::vector<std::vector<Jump>> jumps_;  // by waiter; in order of time when sorted
  std::size_t count_ = 0;
  std::int64_t settled_to_ = 0;
  std::uint32_t first_rank_ = kNoFirst;  // start of the settled part
  std::uint64_t unsettled_ns_ = 0, late_ = 0;
  std::vector<std::uint64_t> ns_by_rank_;  // settled
  GridValues<std::uint32_t> rank_at_;      // of the settled part
};

}  // namespace ardoise::knowledge_sources
