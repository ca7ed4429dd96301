#include "knowledge_sources/plugins/traces/trace_samples.hpp"

#include <algorithm>

#include "instrument/format/pack_reader.hpp"

namespace ardoise::knowledge_sources {

namespace {
constexpr std::uint32_t kNoCounters = UINT32_MAX;
}

TraceSamples::TraceSamples(TracePart& part, const TraceSelection& selection, const TraceClock& clock,
                           std::uint32_t rank, std::uint32_t world_rank, std::uint32_t thread, TraceLosses& losses)
    : part_(part),
      selection_(selection),
      clock_(clock),
      losses_(losses),
      location_(trace_location(world_rank, kSamplesOfThread | thread)) {
  told_.rank = rank;
  told_.thread = thread;
}

void TraceSamples::follow(const TraceTables::Samples& earlier) {
  first_number_ = 1u << 31;  // numbers must differ from those there
  std::ranges::copy_n(earlier.counted.begin(), static_cast<std::ptrdiff_t>(counted_.size()), counted_.begin());
}

void TraceSamples::add(const SampleSpan& span) {
  const instrument::PackView pack(span.header);
  const auto& header = *span.header;
  for (std::size_t i = 0; i < header.record_count && part_.is_good(); ++i) {
    const instrument::SampleView sample = pack.sample(i);
    // A sample without weight only reports time in the kernel.
    if (sample.record.weight == 0 && sample.counters.empty()) continue;
    held_.push_back(
        {sample.record.tick, key_of(sample.record), sample.record.weight != 0, keep(sample.counters, header.weight)});
    std::ranges::push_heap(held_, is_later);
    if (held_.size() > kMostHeld) write_first();
  }
}

std::uint32_t TraceSamples::keep(std::span<const std::uint64_t> counters, std::uint32_t weight) {
  counter_count_ = std::max(counter_count_, static_cast<std::uint8_t>(counters.size()));
  if (counters.empty()) return kNoCounters;
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(counters_.size()));
    counters_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  counters_[number] = {};
  for (std::size_t c = 0; c < counters.size(); ++c) counters_[number][c] = counters[c] * weight;
  return number;
}

void TraceSamples::add(const ContextSpan& span) { add_sums(told_.contexts, entries_of(span.records)); }

void TraceSamples::write_held() {
  while (!held_.empty()) write_first();
}

// Beyond the maximum number of places: that of the function, then none.
std::uint32_t TraceSamples::place_of(SampleKey key) {
  if (numbers_.size() >= kMostPlaces && !numbers_.contains(key)) key.pc_offset = 0;
  if (numbers_.size() >= 2 * kMostPlaces && !numbers_.contains(key)) key = {};
  const auto [found, is_new] = numbers_.try_emplace(key, first_number_ + static_cast<std::uint32_t>(numbers_.size()));
  if (is_new) told_.places.push_back({key, found->second});
  return found->second;
}

void TraceSamples::write_first() {
  std::ranges::pop_heap(held_, is_later);
  const Held sample = held_.back();
  held_.pop_back();
  // Counted even if not shown: sums continue.
  if (sample.counters != kNoCounters) {
    for (std::size_t c = 0; c < counter_count_; ++c) counted_[c] += counters_[sample.counters][c];
    free_.push_back(sample.counters);
  }
  if (!part_.is_good() || !selection_.has_time(clock_.since_init(sample.tick))) return;
  if (writer_ == nullptr) writer_ = part_.writer_of(location_);
  if (writer_ == nullptr) return;
  const std::uint64_t time = clock_.at(sample.tick);
  if (time < last_) ++losses_.moved_samples;
  last_ = std::max(last_, time);
  first_ = std::min(first_, last_);
  if (sample.has_weight)
    part_.check(
        OTF2_EvtWriter_CallingContextSample(writer_, nullptr, last_, place_of(sample.key), OTF2_UNDEFINED_UINT32, 0));
  if (counter_count_ == 0) return;
  std::array<OTF2_Type, instrument::kMaxCounters> types{};
  std::array<OTF2_MetricValue, instrument::kMaxCounters> values{};
  types.fill(OTF2_TYPE_UINT64);
  for (std::size_t c = 0; c < counter_count_; ++c) values[c].unsigned_int = counted_[c];
  part_.check(OTF2_EvtWriter_Metric(writer_, nullptr, last_, 0, counter_count_, types.data(), values.data()));
}

void TraceSamples::end(TraceTables& tables) {
  write_held();
  told_.counters = counter_count_;
  told_.counted.assign(counted_.begin(), counted_.end());
  if (writer_ != nullptr) {
    const std::uint64_t events = part_.end(writer_);
    tables.threads.push_back(
        {told_.rank, kSamplesOfThread | told_.thread, events, events == 0 ? 0 : first_, last_, 0, 0});
  }
  tables.samples.push_back(std::move(told_));
}

}  // namespace ardoise::knowledge_sources
