#include "knowledge_sources/plugins/snapshots/timed_calls.hpp"

#include <algorithm>
#include <span>

namespace ardoise::knowledge_sources {

CallSums* TimedCalls::row_of(std::uint64_t key) {
  if (const std::uint32_t* const row = rows_.find(key); row != nullptr) return cells_.data() + *row * kBins;
  if (keys_.size() >= kMostRows && place_of_key(key) != kFurther) return row_of((key & kIsPosix) | kFurther);
  (void)rows_.insert(key, static_cast<std::uint32_t>(keys_.size()));
  keys_.push_back(key);
  cells_.resize(cells_.size() + kBins);
  return cells_.data() + cells_.size() - kBins;
}

void TimedCalls::reach(std::uint64_t ns) {
  unsigned shift = shift_;
  while (ns >> shift >= kBins && shift < kLastShift) ++shift;
  widen_to(shift);
}

void TimedCalls::widen_to(unsigned shift) {
  for (; shift_ < shift; ++shift_) {
    for (std::size_t row = 0; row < keys_.size(); ++row) {
      CallSums* const bins = cells_.data() + row * kBins;
      for (std::size_t i = 0; i < kBins / 2; ++i) {
        bins[i] = bins[2 * i];
        bins[i] += bins[2 * i + 1];
      }
      std::fill(bins + kBins / 2, bins + kBins, CallSums{});
    }
  }
}

// The part of [begin, end) after MPI_Init.
TimedCalls::Stretch TimedCalls::reach(std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kLatest = std::int64_t{1} << 62;
  const auto from = std::clamp<std::int64_t>(begin, 0, kLatest), to = std::clamp<std::int64_t>(end, from, kLatest);
  const Stretch stretch{static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to)};
  if (stretch.to >> shift_ >= kBins) reach(stretch.to);
  return stretch;
}

template <std::uint64_t CallSums::*kPart>
void TimedCalls::add_time(CallSums* bins, Stretch stretch, std::uint64_t weight) const {
  std::size_t bin = stretch.from >> shift_;
  for (; bin < stretch.to >> shift_; ++bin) {
    const std::uint64_t next = std::uint64_t{bin + 1} << shift_;
    bins[bin].*kPart += (next - stretch.from) * weight;
    stretch.from = next;
  }
  bins[bin].*kPart += (stretch.to - stretch.from) * weight;
}

void TimedCalls::add(std::uint64_t key, std::int64_t begin, std::int64_t end, std::uint64_t bytes,
                     std::uint64_t weight) {
  const Stretch stretch = reach(begin, end);
  CallSums* const bins = row_of(key);
  CallSums& first = bins[stretch.from >> shift_];
  first.calls += weight;
  first.bytes += bytes;
  add_time<&CallSums::ns>(bins, stretch, weight);
}

void TimedCalls::add_wait(std::uint64_t key, std::int64_t begin, std::int64_t end) {
  const Stretch stretch = reach(begin, end);
  add_time<&CallSums::waited>(row_of(key), stretch, 1);
}

void TimedCalls::spread(std::uint64_t key, std::int64_t begin, std::int64_t end, const CallSums& sums) {
  const auto from = static_cast<std::uint64_t>(std::max<std::int64_t>(begin, 0));
  const auto to = std::max(static_cast<std::uint64_t>(std::max<std::int64_t>(end, 0)), from);
  reach(to);
  CallSums* const bins = row_of(key);
  const std::size_t first = from >> shift_, count = (to >> shift_) - first + 1;
  const auto part = [count](std::uint64_t all, std::size_t n) {  // of the first n
    return all / count * n + all % count * n / count;
  };
  for (std::size_t i = 0; i < count; ++i) {
    bins[first + i] += {part(sums.calls, i + 1) - part(sums.calls, i), part(sums.ns, i + 1) - part(sums.ns, i),
                        part(sums.bytes, i + 1) - part(sums.bytes, i)};
  }
}

void TimedCalls::merge(const TimedCalls& other) {
  TimedCalls theirs = other;
  const unsigned shift = std::max(shift_, theirs.shift_);
  widen_to(shift);
  theirs.widen_to(shift);
  theirs.for_each_row([&](std::uint64_t key, const CallSums* from) {
    CallSums* const bins = row_of(key);
    for (std::size_t bin = 0; bin < kBins; ++bin) bins[bin] += from[bin];
  });
}

std::size_t TimedCalls::bins() const {
  std::size_t used = 0;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (cells_[i].calls != 0 || cells_[i].ns != 0) used = std::max(used, i % kBins + 1);
  }
  return used;
}

void TimedCalls::write(ByteWriter& out) const {
  out.put(std::uint32_t{shift_});
  out.put_array(std::span<const std::uint64_t>(keys_));
  out.put_array(std::span<const CallSums>(cells_));
}

void TimedCalls::read(ByteReader& in) {
  shift_ = in.get<std::uint32_t>();
  in.check(shift_ >= kFirstShift && shift_ <= kLastShift, "has an impossible interval");
  keys_ = in.get_array<std::uint64_t>();
  cells_ = in.get_array<CallSums>();
  in.check(cells_.size() == keys_.size() * kBins, "has an impossible number of intervals");
  for (std::uint32_t row = 0; row < keys_.size(); ++row) (void)rows_.insert(keys_[row], row);
  in.check(rows_.size() == keys_.size(), "has a call site twice");
}

}  // namespace ardoise::knowledge_sources
