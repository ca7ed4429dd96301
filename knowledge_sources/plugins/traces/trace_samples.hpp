// The samples of one thread of a rank, as a location of their own beside that of the thread's calls: samples come in no
// order and seconds after the calls that they lie between, and OTF2 wants a location's events as it wants calls either
// all with calling contexts or all without.
//
//   a sample      CallingContextSample, with the number of its place in the part; what a place is, the tables say
//   its counters  Metric: what they have counted since the first sample, before it
//
// Packs of samples lie over each other in time, since each has those of a level. But a thread's epochs follow each
// other, and a process counts all samples of an epoch (PackHeader::samples) before it sends the first: when as many
// have come, those that are held are in order and none can come before them. At most kMostHeld are held; what comes too
// late is moved, and counted. Not thread safe.
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

  // world_rank: of the first of its program's world. Each outlives it; the clock is known when samples come.
  TraceSamples(TracePart& part, const TraceSelection& selection, const TraceClock& clock, std::uint32_t rank,
               std::uint32_t world_rank, std::uint32_t thread, TraceLosses& losses);

  // Before the first sample: another part ends where this one goes on.
  void follow(const TraceTables::Samples& earlier);
  void add(const SampleSpan& span);
  void add(const ContextSpan& span);
  // Nothing comes before what is held.
  void write_held();
  // No more comes.
  void end(TraceTables& tables);

 private:
  using Counters = std::array<std::uint64_t, instrument::kMaxCounters>;
  struct Held {
    std::uint64_t tick;
    SampleKey key;
    bool has_weight;
    std::uint32_t counters;  // in `counters_`: what the sample stands for
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
  OTF2_EvtWriter* writer_ = nullptr;             // once there is a sample
  std::uint64_t first_ = UINT64_MAX, last_ = 0;  // times
  std::vector<Held> held_;                       // a heap, the earliest first
  std::vector<Counters> counters_;               // of what is held
  std::vector<std::uint32_t> free_;              // of these
  std::map<SampleKey, std::uint32_t> numbers_;
  std::uint32_t first_number_ = 0;
  std::uint8_t counter_count_ = 0;
  Counters counted_{};
  TraceTables::Samples told_;
};

}  // namespace ardoise::knowledge_sources
