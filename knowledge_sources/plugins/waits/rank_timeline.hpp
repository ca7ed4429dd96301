// Activity of a rank at the points of the time grid: the MPI call that it was in (exact), or its sampled place outside
// calls. A sample represents the CPU time before it, so points wait for the next sample; at points that no sample
// covers the rank was asleep, blocked or in the kernel.
//
//   | Send |      x    x  s| Recv  x  | x      |       x: points, s: a sample
//            sampled at s    in Recv    waits for the next sample
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/plugins/waits/time_grid.hpp"

namespace ardoise::knowledge_sources {

struct Activity {
  enum Kind : std::uint32_t { kUnknown, kOther, kSampled, kInMpi };
  std::uint32_t kind : 8 = kUnknown;
  std::uint32_t number : 24 = 0;  // kInMpi: function; kSampled: number of the sample
  std::uint32_t where = 0;        // kInMpi: call site; kSampled: place (rank_places.hpp)
  friend bool operator==(const Activity&, const Activity&) = default;
};

// Timeline of one thread. Times in ns on the program's time axis, in order. Not thread safe.
class RankTimeline {
 public:
  explicit RankTimeline(std::uint32_t slots) : slots_(slots), values_(slots) {}

  void add_call(std::int64_t begin, std::int64_t end, std::uint32_t function, std::uint32_t call_site) {
    if (end <= next_point_) [[likely]] {
      if (begin > now_) outside_ += begin - now_;
      if (end > now_) now_ = end;
      return;
    }
    leave_outside(begin);
    pass_points(end, Activity{Activity::kInMpi, function & 0xFFFFFFu, call_site});
  }
  // A sample that represents `weight` ns of CPU time before `time`, outside calls.
  void add_sample(std::int64_t time, std::uint64_t weight, std::uint32_t place);
  // End of the timeline.
  void end_at(std::int64_t time);

  [[nodiscard]] const GridValues<Activity>& values() const { return values_; }
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one

 private:
  struct Pending {
    std::int64_t point;
    std::int64_t outside;  // outside_ at that point
  };
  void leave_outside(std::int64_t until);
  void pass_points(std::int64_t until, const Activity& activity);
  void next_point();
  void put(std::int64_t point, const Activity& activity);

  std::uint32_t slots_;
  GridValues<Activity> values_;
  std::int64_t now_ = 0;
  std::int64_t outside_ = 0;  // ns outside calls so far
  std::uint64_t next_slot_ = 0;
  std::int64_t next_point_ = grid_point(0, kFirstGridShift);
  std::uint32_t samples_ = 0;
  std::vector<Pending> pending_;  // points outside calls since the latest sample
};

}  // namespace ardoise::knowledge_sources
