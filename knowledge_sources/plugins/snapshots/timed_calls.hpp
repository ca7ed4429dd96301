// The calls of all ranks over time, by function and call site, in bounded memory: at most kBins intervals, whose length
// doubles whenever the run exceeds them. Time is split exactly among the intervals of a call; the call and its bytes
// count where it begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/containers/flat_table.hpp"
#include "knowledge_sources/snapshot_files/call_sums.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class TimedCalls {
 public:
  static constexpr std::size_t kBins = 256;
  static constexpr unsigned kFirstShift = 20, kLastShift = 55;  // an interval is 2^shift ns: 1 ms at first
  static constexpr std::size_t kMostRows = 1024;          // 6 KiB each; further call sites of I/O or MPI share one
  static constexpr std::uint32_t kFurther = 0xFFFFFFFFu;  // call site of these

  // [begin, end) in ns since the program's MPI_Init; time before that counts from there. weight: of each.
  void add(std::uint64_t key, std::int64_t begin, std::int64_t end, std::uint64_t bytes, std::uint64_t weight);
  // The time that a call waited.
  void add_wait(std::uint64_t key, std::int64_t begin, std::int64_t end);
  // Sums of calls at unknown times in [begin, end): spread evenly.
  void spread(std::uint64_t key, std::int64_t begin, std::int64_t end, const CallSums& sums);
  void merge(const TimedCalls& other);

  [[nodiscard]] unsigned shift() const { return shift_; }
  [[nodiscard]] std::size_t bins() const;  // intervals up to the last used one
  // use(key, sums of kBins)
  template <class Use>
  void for_each_row(Use&& use) const {
    for (std::size_t row = 0; row < keys_.size(); ++row) use(keys_[row], cells_.data() + row * kBins);
  }
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one

 private:
  [[nodiscard]] CallSums* row_of(std::uint64_t key);
  struct Stretch {
    std::uint64_t from, to;  // ns since MPI_Init
  };
  [[nodiscard]] Stretch reach(std::int64_t begin, std::int64_t end);
  template <std::uint64_t CallSums::*kPart>
  void add_time(CallSums* bins, Stretch stretch, std::uint64_t weight) const;
  void reach(std::uint64_t ns);
  void widen_to(unsigned shift);

  unsigned shift_ = kFirstShift;
  FlatTable<std::uint64_t, std::uint32_t> rows_;
  std::vector<std::uint64_t> keys_;  // by row
  std::vector<CallSums> cells_;      // [row * kBins + bin]
};

}  // namespace ardoise::knowledge_sources
