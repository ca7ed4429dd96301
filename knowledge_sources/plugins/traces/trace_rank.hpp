// The packs of one rank, on their way to its locations. Packs of MPI and those of I/O come separately, and in any
// order: those of a thread are put in the order in which they were recorded (in_order.hpp), and both kinds together in
// the order of time.
//
//   MPI packs of a thread ──▶ InOrder ──▶ waiting ─┐
//                                                  ├─▶ by time ─▶ TraceLocation
//   I/O packs of a thread ──▶ InOrder ──▶ waiting ─┘
//
// First of all is MPI_Init, which the definition of the process tells: what comes before that waits for it.
//
// A record goes on when nothing of the other kind that lies before it can come any more. Each pack's header tells:
// which records of the other kind its thread still held back, and how many the process had let go by then, which come
// or have come. So a thread without I/O never waits.
//
// Samples go to locations of their own (trace_samples.hpp).
//
// Memory: copies of what waits count on the blackboard. When all that the process has sent is here, at most
// kMostWaiting records of a rank wait; then they go on as they are, and what comes too late is moved, and counted. Not
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

  // world_rank: of the first one of its program's world. The part and the selection outlive it.
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

  // Before the first pack: another part ends where this one goes on.
  void follow(const TraceTables& earlier);
  // These do not come.
  void skip(const PackRing::Gone& gone);
  void add(const instrument::PackHeader& header, const instrument::ProcessDefinition& process);
  void add(const MpiSpan& span);
  void add(const PosixSpan& span);
  void add(const AggregateSpan& span);
  void add(const SampleSpan& span);
  void add(const ContextSpan& span);
  void add(const instrument::SamplingDefinition& sampling);
  void add(const instrument::DecodedCounters& counters);
  // Goes on without packs that are missing.
  void give_up_missing();
  // Nothing more comes: adds what is known of the rank.
  void end(TraceTables& tables);

 private:
  template <class Record>
  struct Pack {
    std::vector<Record> own;       // where it waits
    std::span<const Record> left;  // what has not gone on
    std::uint64_t last_tick = 0;
    std::uint32_t counted = 0;  // records, by the ledger
    bool after_gap = false;
    bool after_sums = false;  // records of the thread became sums before it or among it
  };
  template <class Record>
  struct Stream {
    InOrder<Pack<Record>> order;
    std::deque<Pack<Record>> waiting;
    std::uint64_t known_until = 0;  // tick: of this kind all that begins until then is here
    struct Mark {                   // … until when, as soon as so many of the process are
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
  static void look_at_marks(Stream<Record>& stream, std::uint64_t received);
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
  std::uint64_t samples_received_ = 0, samples_sealed_ = 0;         // sealed: of the epochs that are on their way
  TraceTables::Sampler sampler_{};
  std::uint64_t sampler_tick_ = UINT64_MAX;              // since when it is so
  std::uint64_t mpi_received_ = 0, posix_received_ = 0;  // records, by the ledger
  std::size_t waiting_ = 0;                              // records
  KeptBytes waiting_bytes_;                              // theirs
  std::vector<TraceTables::Gap> gaps_;
};

}  // namespace ardoise::knowledge_sources
