#include "knowledge_sources/plugins/samples/sample_bins.hpp"

#include <span>

namespace ardoise::knowledge_sources {

void SampleBins::add(std::vector<Entry>& more) {
  sum_up(more);
  add_sums(entries_, more);
  while (entries_.size() > kEntries && shift_ < kLastShift) widen_to(shift_ + 1);
}

void SampleBins::widen_to(unsigned shift) {
  if (shift <= shift_) return;
  for (Entry& entry : entries_) {
    entry.key.bin = static_cast<std::uint32_t>(std::uint64_t{entry.key.bin} >> (shift - shift_));
  }
  shift_ = shift;
  sum_up(entries_);
}

void SampleBins::merge(const SampleBins& other) {
  SampleBins theirs = other;
  theirs.widen_to(shift_);
  widen_to(theirs.shift_);
  add(theirs.entries_);
}

void SampleBins::write(ByteWriter& out) const {
  out.put(static_cast<std::uint32_t>(shift_));
  out.put_array(std::span<const Entry>(entries_));
}

void SampleBins::read(ByteReader& in) {
  shift_ = in.get<std::uint32_t>();
  in.check(shift_ >= kFirstShift && shift_ <= kLastShift, "has an impossible bin width");
  entries_ = in.get_array<Entry>();
  in.check(is_summed_up(entries_), "lists bins out of order");
  for (const Entry& entry : entries_) in.check(entry.key.bin < kBins, "has a bin beyond the last one");
}

}  // namespace ardoise::knowledge_sources
