// Common data of the threads of a traced process: its packs, its definitions sent so far, and operations that one
// thread may start and another complete.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "knowledge_sources/otf2/packs/made_packs.hpp"
#include "knowledge_sources/otf2/packs/traced_program.hpp"

namespace ardoise::knowledge_sources {

// Counts of events that records of calls cannot represent.
struct TracedLosses {
  std::uint64_t outside_calls = 0;     // shown as calls without duration
  std::uint64_t further_messages = 0;  // beyond the one that the call can have
  std::uint64_t unknown_ends = 0;      // of operations whose start is missing in the trace
  std::uint64_t inner_calls = 0;       // MPI calls made inside an MPI call
  std::uint64_t unbalanced = 0;        // regions left without having been entered
  std::uint64_t unfinished = 0;        // calls without a leave
  std::uint64_t values = 0;            // of metrics and parameters
  std::uint64_t flushes = 0;           // of the trace writer's buffers
  std::uint64_t others = 0;            // events of threads, tasks, locks and of unknown kinds
  std::uint64_t neighbourhoods = 0;    // neighbourhood collectives, whose neighbours are unknown
  std::uint64_t untimely = 0;          // operations sent before their content was known
  void add(const TracedLosses& more);
  [[nodiscard]] std::vector<std::string> sentences() const;
};

// Not thread safe.
class TracedRank {
 public:
  // first_tick: of its first event.
  TracedRank(const TracedProgram& of_program, std::uint32_t rank, std::uint64_t first_tick, const TakePack& take);

  // A pending operation.
  struct Operation {
    enum class Kind : std::uint8_t { kSend, kReceive, kCollective, kRead, kWrite, kOneSided };
    Kind kind = Kind::kSend;
    bool is_part = false;      // a StartedExtension
    bool is_complete = false;  // within the call that starts it
    bool is_known = true;      // its record is complete; otherwise it is held
    bool is_cancelled = false;
    std::uint32_t thread = 0, function = 0, comm = instrument::kNoComm, call_site = 0;
    std::int32_t peer = instrument::kAnySource, tag = instrument::kAnyTag;
    std::uint64_t id = 0;      // tick
    std::uint64_t record = 0;  // number in its thread
    std::uint64_t bytes = 0, received = 0;
    std::optional<std::uint64_t> probe{};  // record of the call that took the message
  };

  // Each is defined once.
  [[nodiscard]] std::uint32_t site_of(CodePlace place);  // 0: none
  void define_code(std::uint32_t code);
  void use_file(std::uint32_t file);
  void use_mark(std::uint32_t name);
  void define_sampling(instrument::SampleUnit unit, const std::string& event, double hertz, std::uint64_t period,
                       std::uint32_t thread);

  void note(std::uint64_t tick) {
    if (tick > last_tick_) last_tick_ = tick;
  }
  void begin_init(std::uint64_t tick) { init_begin_ = tick; }
  void end_init(std::uint64_t tick) {
    counts_ = true;
    if (!is_defined_) define_process(tick, tick - std::min(tick, init_begin_));
  }
  void begin_finalize(std::uint64_t tick) {
    finalize_ = tick;
    counts_ = false;
  }
  // True between MPI_Init and MPI_Finalize, if the trace has them.
  [[nodiscard]] const bool& counts() const { return counts_; }
  void note_mpi_thread(std::uint32_t thread);

  void finish();

  const TracedProgram& program;
  const std::uint32_t number;
  MadePacks packs;
  std::unordered_map<std::uint64_t, Operation> requests;  // by MPI request
  // By window or handle and matching id, which are numbers of a thread or of a process.
  struct PairHash {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& key) const {
      return (key.first << 40 ^ key.second) * 0x9E3779B97F4A7C15u;
    }
  };
  std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, Operation, PairHash> accesses, one_sided;
  TracedLosses losses;

 private:
  void define_process(std::uint64_t begin_tick, std::uint64_t init_ticks);

  std::uint64_t last_tick_ = 0, init_begin_ = 0, finalize_ = 0;
  bool is_defined_ = false, counts_ = false;
  std::optional<std::uint32_t> mpi_thread_;
  std::unordered_set<std::uint32_t> codes_, files_, marks_, sampled_threads_;
  std::unordered_map<std::uint64_t, std::uint32_t> sites_;  // ids, by code and line
};

}  // namespace ardoise::knowledge_sources
