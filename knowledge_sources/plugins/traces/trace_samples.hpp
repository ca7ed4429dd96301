// The samples of one thread of a rank, as a separate location beside that of the thread's calls: samples arrive
// unordered and seconds after the calls around them, and OTF2 requires that either all or no calls of a location have
// calling contexts.
//
//   a sample      CallingContextSample, with the number of its place in the part, which the tables resolve
//   its counters  Metric, before it: counts since the first sample
//
// Packs of samples overlap in time, since each has those of one level. But a thread's epochs are consecutive, and a
// process counts all samples of an epoch (PackHeader::samples) before it sends the first: when that many have arrived,
// the held ones are in order and complete. At most kMostHeld are held; late ones are moved and counted. Not thread
// safe.
#pragma once

#include <otf2/OTF2_EvtWriter.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "knowledge_sources/interface/analysis.hpp"
#include "knowledge_sources/otf2/contents/trace_selection.hpp"
#include "knowledge_sources/otf2/writer/trace_part.hpp"
#include "knowledge_sources/otf2/writer/trace_tables.hpp"

namespace ardoise::knowledge_sources {

class TraceSamples {
 public:
  static constexpr std::size_t kMostHeld = std::size_t{1} << 18, kMostPlaces = 65536;

  // world_rank: of its program's first rank. Each argument outlives it; the clock is known before the first sample.
  TraceSamples(TracePart& part, const TraceSelection& selection, const TraceClock& clock, std::uint32_t rank,
               std::uint32_t world_rank, std::uint32_t thread, TraceLosses& losses);

  // Before the first sample: another part ends where this one continues.
  void follow(const TraceTables::Samples& earlier);
  void add(const SampleSpan& span);
  void add(const ContextSpan& span);
  // No earlier sample can come.
  void write_held();
  // After the last sample.
  void end(TraceTables& tables);

 private:
  using Counters = std::array<std::uint64_t, instrument::kMaxCounters>;
  struct Held {
    std::uint64_t tick;
    SampleKey key;
    bool has_weight;
    std::uint32_t counters;  // index in `counters_`: the sample's counts
  };
  static bool is_later(const Held& a, const Held& b) { return a.tick > b.tick; }

  [[nodiscard]] std::uint32_t keep(std::span<const std::uint64_t> counters, std::uint32_t weight);
  [[nodiscard]] std::uint32_t place_of(SampleKey key);
  void write_first();

  TracePart& part_;
  const TraceSelection& selection_;
  const TraceClock& clock_;
  TraceLosses& losses_;
  const std::uint64_t location_;
  OTF2_EvtWriter* writer_ = nullptr;             // set by the first sample
  std::uint64_t first_ = UINT64_MAX, last_ = 0;  // times
  std::vector<Held> held_;                       // a heap, the earliest first
  std::vector<Counters> counters_;               // of held samples
  std::vector<std::uint32_t> free_;              // free indices of these
  std::map<SampleKey, std::uint32_t> numbers_;
  std::uint32_t first_number_ = 0;
  std::uint8_t counter_count_ = 0;
  Counters counted_{};
  TraceTables::Samples told_;
};

}  // namespace ardoise::knowledge_sources
