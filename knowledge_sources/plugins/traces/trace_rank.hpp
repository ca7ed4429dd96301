// Orders the packs of one rank for its locations. Packs of MPI and of I/O arrive separately, in any order: the packs of
// a thread are put into their recorded order (in_order.hpp), and both kinds are merged by time.
//
//   MPI packs of a thread ──▶ InOrder ──▶ waiting ─┐
//                                                  ├─▶ by time ─▶ TraceLocation
//   I/O packs of a thread ──▶ InOrder ──▶ waiting ─┘
//
// MPI_Init comes first, from the definition of the process: earlier packs wait for it.
//
// A record is passed on when no record of the other kind before it can still come. Each pack's header has the records
// of the other kind that its thread still held back, and the number that the process had released by then. So a thread
// without I/O never waits.
//
// Samples go to separate locations (trace_samples.hpp).
//
// Memory: copies of waiting packs count on the blackboard. When all data that the process has sent has arrived, at most
// kMostWaiting records of a rank wait; then they are passed on as they are, and late ones are moved and counted. Not
// thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "instrument/format/definition_reader.hpp"
#include "knowledge_sources/interface/analysis.hpp"
#include "knowledge_sources/interface/in_order.hpp"
#include "knowledge_sources/interface/kept_bytes.hpp"
#include "knowledge_sources/plugins/traces/pack_ring.hpp"
#include "knowledge_sources/plugins/traces/trace_location.hpp"
#include "knowledge_sources/plugins/traces/trace_samples.hpp"

namespace ardoise::knowledge_sources {

class TraceRank {
 public:
  static constexpr std::size_t kMostWaiting = std::size_t{1} << 17, kMostGaps = 1024;

  // world_rank: of its program's first rank. The part and the selection outlive it.
  TraceRank(TracePart& part, const TraceSelection& selection, std::uint32_t rank, std::uint32_t world_rank,
            double nominal_ticks_per_second, blackboard::Blackboard& board)
      : board_(board),
        part_(part),
        selection_(selection),
        rank_(rank),
        world_rank_(world_rank),
        nominal_ticks_per_second_(nominal_ticks_per_second) {
    waiting_bytes_.count_on(board);
  }

  // Before the first pack: another part ends where this one continues.
  void follow(const TraceTables& earlier);
  // These packs will not come.
  void skip(const PackRing::Gone& gone);
  void add(const instrument::PackHeader& header, const instrument::ProcessDefinition& process);
  void add(const MpiSpan& span);
  void add(const PosixSpan& span);
  void add(const AggregateSpan& span);
  void add(const SampleSpan& span);
  void add(const ContextSpan& span);
  void add(const instrument::SamplingDefinition& sampling);
  void add(const instrument::DecodedCounters& counters);
  // Continues without missing packs.
  void give_up_missing();
  // After the last pack: adds the rank's definitions.
  void end(TraceTables& tables);

 private:
  template <class Record>
  struct Pack {
    std::vector<Record> own;       // copy while it waits
    std::span<const Record> left;  // not passed on yet
    std::uint64_t last_tick = 0;
    std::uint32_t counted = 0;  // records, by the ledger
    bool after_gap = false;
    bool after_sums = false;  // records of the thread were aggregated before or within it
  };
  template <class Record>
  struct Stream {
    InOrder<Pack<Record>> order;
    std::deque<Pack<Record>> waiting;
    std::uint64_t known_until = 0;  // tick: all records of this kind that begin before it have arrived
    struct Mark {                   // known_until for a number of records of the process
      std::uint64_t records, tick;
    };
    std::deque<Mark> marks{};
  };
  struct Thread {
    Stream<instrument::MpiRecord> mpi;
    Stream<instrument::PosixRecord> posix;
    std::unique_ptr<TraceLocation> location;
  };
  [[nodiscard]] bool set_clock(const instrument::PackHeader& header);
  [[nodiscard]] Thread& thread_of(std::uint32_t number);
  [[nodiscard]] TraceSamples& samples_of(std::uint32_t thread);
  template <class Record>
  void take(const Span<Record>& span, Stream<Record>& stream, std::uint64_t& received, Thread& thread);
  template <class Record>
  void enter(Stream<Record>& stream, std::uint64_t& received, Pack<Record> pack);
  template <class Record>
  static void mark(Stream<Record>& stream, const instrument::ClassLedger& ledger, const instrument::PackHeader& header);
  template <class Record>
  static void update_known_until(Stream<Record>& stream, std::uint64_t received);
  [[nodiscard]] bool begin(bool without_definition);
  void merge(Thread& thread, bool all);
  [[nodiscard]] bool may_be_on_the_way(const Thread& thread) const;
  void write_until(Thread& thread, Pack<instrument::MpiRecord>& pack, std::uint64_t tick);
  void write_until(Thread& thread, Pack<instrument::PosixRecord>& pack, std::uint64_t tick);
  void note_gap(std::uint64_t tick);
  void add_gap(const TraceTables::Gap& gap);

  blackboard::Blackboard& board_;
  TracePart& part_;
  const TraceSelection& selection_;
  const std::uint32_t rank_, world_rank_;
  const double nominal_ticks_per_second_;
  TraceRankState state_;
  std::optional<instrument::ProcessDefinition> process_;
  bool has_begun_ = false;  // MPI_Init is written
  TraceLosses losses_;
  std::map<std::uint32_t, Thread> threads_;
  std::map<std::uint32_t, std::unique_ptr<TraceSamples>> samples_;  // by thread
  std::uint64_t samples_received_ = 0, samples_sealed_ = 0;         // sealed: of the epochs in flight
  TraceTables::Sampler sampler_{};
  std::uint64_t sampler_tick_ = UINT64_MAX;              // tick since when it is so
  std::uint64_t mpi_received_ = 0, posix_received_ = 0;  // records, by the ledger
  std::size_t waiting_ = 0;                              // records
  KeptBytes waiting_bytes_;                              // their bytes
  std::vector<TraceTables::Gap> gaps_;
};

}  // namespace ardoise::knowledge_sources
