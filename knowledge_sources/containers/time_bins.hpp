// Time over time in bounded memory: at most kBins bins, whose width doubles whenever the timeline exceeds them.
//
//   width 2^16 ns, then 2^17, 2^18 …      |▂|▅|▇|▃|  doubling joins neighbours:  |▇|▇▇| | |
//
// An interval is split exactly among its bins, and all times are whole nanoseconds, so joined bins equal bins that were
// wider from the start: the result does not depend on the time of widening, nor on the order of intervals and merges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"

namespace ardoise::knowledge_sources {

class TimeBins {
 public:
  static constexpr std::size_t kBins = 1024;
  static constexpr unsigned kFirstShift = 16;  // a bin is 2^shift ns wide
  static constexpr unsigned kLastShift = 53;   // 1024 bins then hold 292 years: every 64-bit time

  explicit TimeBins(std::size_t rows) : rows_(rows) {}

  // Adds [begin, end) in ns to a row, `weight` times. end < 2^63.
  void add(std::size_t row, std::uint64_t begin, std::uint64_t end, std::uint64_t weight = 1) {
    if (rows_of_bins_.empty()) [[unlikely]]
      rows_of_bins_.resize(rows_ * kBins);
    if (end >> shift_ >= kBins) [[unlikely]]
      widen_for(end);
    std::uint64_t* const bins = rows_of_bins_.data() + row * kBins;
    std::size_t bin = begin >> shift_;
    const std::size_t last = end >> shift_;
    if (bin == last) [[likely]] {
      bins[bin] += (end - begin) * weight;
      return;
    }
    bins[bin] += (((static_cast<std::uint64_t>(bin) + 1) << shift_) - begin) * weight;
    while (++bin < last) bins[bin] += weight << shift_;
    bins[last] += (end - (static_cast<std::uint64_t>(last) << shift_)) * weight;
  }

  void merge(const TimeBins& other) {
    if (other.rows_of_bins_.empty()) return;
    TimeBins theirs = other;
    const unsigned shift = std::max(shift_, theirs.shift_);
    widen_to(shift);
    theirs.widen_to(shift);
    if (rows_of_bins_.empty()) rows_of_bins_.resize(rows_ * kBins);
    for (std::size_t i = 0; i < rows_of_bins_.size(); ++i) rows_of_bins_[i] += theirs.rows_of_bins_[i];
  }

  void widen_to(unsigned shift) {
    while (shift_ < shift) {
      ++shift_;
      for (std::size_t row = 0; row < rows_ && !rows_of_bins_.empty(); ++row) {
        std::uint64_t* const bins = rows_of_bins_.data() + row * kBins;
        for (std::size_t i = 0; i < kBins / 2; ++i) bins[i] = bins[2 * i] + bins[2 * i + 1];
        std::fill(bins + kBins / 2, bins + kBins, 0);
      }
    }
  }

  [[nodiscard]] bool empty() const { return rows_of_bins_.empty(); }
  [[nodiscard]] unsigned shift() const { return shift_; }
  [[nodiscard]] std::uint64_t at(std::size_t row, std::size_t bin) const { return rows_of_bins_[row * kBins + bin]; }
  void write(ByteWriter& out) const {
    out.put(static_cast<std::uint32_t>(shift_));
    out.put_array(std::span<const std::uint64_t>(rows_of_bins_));
  }
  void read(ByteReader& in) {  // into an empty one
    shift_ = in.get<std::uint32_t>();
    in.check(shift_ >= kFirstShift && shift_ <= kLastShift, "has an impossible bin width");
    rows_of_bins_ = in.get_array<std::uint64_t>();
    in.check(rows_of_bins_.empty() || rows_of_bins_.size() == rows_ * kBins, "has an impossible number of bins");
  }

 private:
  void widen_for(std::uint64_t end) {
    unsigned shift = shift_;
    while (end >> shift >= kBins) ++shift;
    widen_to(shift);
  }

  std::size_t rows_;
  unsigned shift_ = kFirstShift;
  std::vector<std::uint64_t> rows_of_bins_;  // empty until the first interval
};

}  // namespace ardoise::knowledge_sources
