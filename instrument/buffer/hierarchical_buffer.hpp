// The hierarchical buffer: the bins of one class of events by level. It shares one budget (the BinPool) with the other
// classes (Wagner, Knüpfer: Automatic Adaption of the Sampling Frequency for Detailed Performance Analysis, CCGRID
// 2017). A plain data structure without knowledge of samples, clocks or processes. SampleStore uses one for each
// thread.
//
//   level    lowest        lowest+1      lowest+2 …    top (and all above)
//            [bin][bin]…   [bin]…        [bin]…        [bin]…            each a list, the last bin being filled
//            └ drop_lowest() gives these back: O(1), records are never looked at
//
// One thread or signal handler fills it. Every other caller must exclude that one (SampleStore does).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "instrument/buffer/bin_pool.hpp"

namespace ardoise::instrument {

// Level of the nth item, n = 1, 2, …: its trailing zeros. Every 2^(l+1)th item is of a level above l.
[[nodiscard]] constexpr std::uint32_t level_of(std::uint64_t n) {
  return static_cast<std::uint32_t>(__builtin_ctzll(n | std::uint64_t{1} << 63));
}

class HierarchicalBuffer {
 public:
  static constexpr std::uint32_t kMaxLevels = 16;

  HierarchicalBuffer(BinPool& pool, PackClass pack_class) : pool_(pool), pack_class_(pack_class) {}

  // Starts empty with `levels` (1 … kMaxLevels) lists for the levels lowest, lowest + 1, …; the last list takes all
  // levels above as well. Requires that the buffer is empty.
  void open(std::uint32_t lowest, std::uint32_t levels);

  // Room for a record of this level that ends at `tick`; nullptr: no bin is free. Requires !is_closed(level) and bytes
  // at most a bin's payload. Records lie in the bin without gaps.
  [[nodiscard]] std::byte* room(std::uint32_t level, std::uint32_t bytes, std::uint64_t tick) {
    const std::uint32_t place = level - base_;
    Lane& lane = lanes_[place < last_ ? place : last_];
    if (static_cast<std::size_t>(lane.limit - lane.cursor) < bytes) [[unlikely]] {
      if (!next_bin(lane, tick)) return nullptr;
    }
    std::byte* const room = lane.cursor;
    lane.cursor += bytes;
    lane.last_tick = tick;
    lane.records += 1;
    return room;
  }

  [[nodiscard]] bool is_closed(std::uint32_t level) const { return level < lowest_; }
  [[nodiscard]] std::uint32_t lowest() const { return lowest_; }
  // False: the records of the lowest level share their bins with those above.
  [[nodiscard]] bool can_drop() const { return lowest_ - base_ < last_; }

  // Bins that a drop frees.
  [[nodiscard]] std::uint32_t lowest_bins() const { return lanes_[lowest_ - base_].list.bins; }

  struct Dropped {
    std::uint32_t bins = 0;
    std::uint64_t records = 0;
  };
  // Closes the lowest level and gives its bins back. Requires can_drop().
  Dropped drop_lowest();

  // Closes all bins and appends them to `into`, lowest level first, each with record_count, payload_bytes, first_tick
  // and last_tick in its header. The buffer is empty until the next open().
  struct Sealed {
    std::uint32_t bins = 0;
    std::uint64_t records = 0;
  };
  Sealed seal(BinList& into);

  // Empties the buffer without giving its bins back: its writer died in the middle of an update.
  void abandon();

  [[nodiscard]] std::uint32_t bins() const { return bins_; }
  [[nodiscard]] std::uint64_t records() const;
  [[nodiscard]] std::uint32_t full_bins() const;  // bins without room for another record

 private:
  struct Lane {
    std::byte* cursor = nullptr;
    std::byte* limit = nullptr;
    std::uint64_t last_tick = 0;
    std::uint64_t records = 0;  // in all bins
    std::uint64_t in_full = 0;  // of those, in bins that are full
    Bin* bin = nullptr;         // being filled; the last one of the list
    BinList list;
  };
  [[nodiscard]] bool next_bin(Lane& lane, std::uint64_t tick);
  static void close_bin(Lane& lane);

  BinPool& pool_;
  const PackClass pack_class_;
  std::uint32_t base_ = 0;    // level of lanes_[0]
  std::uint32_t last_ = 0;    // index of the lane that takes all levels above
  std::uint32_t lowest_ = 0;  // the lowest open level
  std::uint32_t bins_ = 0;
  std::array<Lane, kMaxLevels> lanes_{};
};

}  // namespace ardoise::instrument
