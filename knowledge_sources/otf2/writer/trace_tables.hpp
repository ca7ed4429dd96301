// Tables beside the event files of a part of a trace: its ranks, and the meaning of the numbers in its events. Written
// last: a part without this file is incomplete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "instrument/format/definitions.hpp"
#include "instrument/format/event_format.hpp"
#include "knowledge_sources/contexts/thread_samples.hpp"

namespace ardoise::knowledge_sources {

// Time 0 of the program, the end of MPI_Init in its rank 0, in the time stamps of its trace, which are non-negative
// nanoseconds. Earlier times become 0.
inline constexpr std::uint64_t kTraceLead = 100'000'000'000;

// Converts ticks of a rank to time stamps of its trace. One rate for the whole run, so that time never decreases when a
// process refines its rate later: the archive records the difference to the last rate (clock offsets).
struct TraceClock {
  std::uint64_t origin_tick = 0;
  double ns_per_tick = 0;  // 0: unknown so far

  [[nodiscard]] std::int64_t since_init(std::uint64_t tick) const {
    return static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(tick - origin_tick)) * ns_per_tick);
  }
  [[nodiscard]] std::uint64_t at(std::uint64_t tick) const {
    const std::int64_t time = since_init(tick) + static_cast<std::int64_t>(kTraceLead);
    return time < 0 ? 0 : static_cast<std::uint64_t>(time);
  }
};

// A region of a trace: an MPI or I/O function at a call site, a phase of the program, or a sampled function.
struct TraceRegion {
  enum class Kind : std::uint32_t {
    kMpi,
    kPosix,
    kPhase,
    kSampled  // a function with samples: in archives only, where `function` is 1 for MPI
  };
  Kind kind;
  std::uint32_t function;
  std::uint32_t place;  // call site, or name of the phase (mark_name.hpp)

  [[nodiscard]] constexpr std::uint64_t key() const {
    return static_cast<std::uint64_t>(kind) << 48 | static_cast<std::uint64_t>(function & 0xFFFF) << 32 | place;
  }
  [[nodiscard]] static constexpr TraceRegion of_key(std::uint64_t key) {
    return {static_cast<Kind>(key >> 48), static_cast<std::uint32_t>(key >> 32 & 0xFFFF),
            static_cast<std::uint32_t>(key)};
  }
};

// Files are identified by their number in the process and by the kind of access.
constexpr std::uint32_t trace_handle(std::uint32_t file, bool is_mpi_io) { return file << 1 | (is_mpi_io ? 1u : 0u); }

// Losses in the trace of a program or a part of it.
struct TraceLosses {
  std::uint64_t sums = 0;        // calls aggregated for lack of memory
  std::uint64_t counted = 0;     // queries that are only counted
  std::uint64_t gaps = 0;        // places with missing packs of a thread
  std::uint64_t untimed = 0;     // calls at unknown times
  std::uint64_t moved = 0;       // late calls, shown later than they were
  std::uint64_t incomplete = 0;  // operations that did not end
  std::uint64_t attributes = 0;  // dropped for lack of room
  std::uint64_t stacks = 0;      // call stacks of calls
  std::uint64_t limited = 0;     // earlier records dropped because of limit=
  std::uint64_t moved_samples = 0, untimed_samples = 0;  // the same for samples

  void add(const TraceLosses& other);
};

struct TraceTables {
  struct Thread {  // a location
    std::uint32_t rank, thread;
    std::uint64_t events, first_time, last_time;
    std::uint64_t next_mpi, next_posix;  // PackHeader::order of the next packs
  };
  struct Rank {
    std::uint32_t rank, reserved;
    TraceClock clock;
  };
  struct Use {  // of a communicator, a handle or a window (trace_windows.hpp)
    std::uint32_t rank, number;
    friend auto operator<=>(const Use&, const Use&) = default;
  };
  struct Group {  // ranks of a communicator
    std::uint32_t rank, number, communicator;
    std::vector<std::int32_t> members;
  };
  struct Place {  // a sampled place, by its number in the events of the thread
    SampleKey key;
    std::uint32_t number;
  };
  struct Samples {  // of a thread; its location is that of the thread kSamplesOfThread | thread
    std::uint32_t rank, thread, counters;
    std::vector<Place> places;
    std::vector<ContextEntry> contexts;  // summed up; also of a thread whose samples are in another part
    std::vector<std::uint64_t> counted;  // kMaxCounters: final values of its counters
  };
  struct Stack {  // a calling context of calls of a thread
    std::uint32_t rank, thread, context;
  };
  struct Sampler {  // sampling settings of a rank
    std::uint32_t rank;
    instrument::SampleUnit unit;
    double hertz;          // initial rate; 0: unknown
    std::uint64_t period;  // initial period of a sampled event
    std::string event;
    std::vector<std::string> counters;
  };
  enum class GapKind : std::uint32_t { kSums, kMissing };
  struct Gap {  // a time of a rank with missing calls
    std::uint32_t rank;
    GapKind kind;
    std::uint64_t begin, end, calls;
  };

  struct RankText {  // in attributes: rank_texts.hpp
    std::uint32_t rank, number;
    std::string text;
  };

  std::uint32_t partition = 0;
  std::string selection{};
  std::vector<Rank> ranks{};
  std::vector<Thread> threads{};
  std::vector<std::uint64_t> regions{};                        // TraceRegion::key(), by number
  std::vector<std::uint32_t> names{};                          // of parameters and metrics, by number
  std::vector<std::pair<std::uint32_t, std::string>> texts{};  // of names
  std::vector<Use> communicators{}, handles{}, windows{}, datatypes{};
  std::vector<Group> groups{};
  std::vector<Samples> samples{};
  std::vector<Sampler> samplers{};
  std::vector<Stack> stacks{};  // grouped by thread
  std::vector<RankText> rank_texts{};
  std::uint64_t attributes = 0;  // attributes in use: bits, by key
  std::vector<Gap> gaps{};
  TraceLosses losses{};
};

// Flag in a thread number: the location of its samples.
inline constexpr std::uint32_t kSamplesOfThread = 1u << 30;

// Number of a location and its file in the archive. world_rank: of the program's world.
constexpr std::uint64_t trace_location(std::uint32_t world_rank, std::uint32_t thread) {
  return static_cast<std::uint64_t>(thread) << 32 | world_rank;
}

// False: the file could not be written.
[[nodiscard]] bool write_tables(const TraceTables& tables, const std::filesystem::path& part);
// Throws BadPartial if it is missing or not as write_tables() writes it.
[[nodiscard]] TraceTables read_tables(const std::filesystem::path& part);

}  // namespace ardoise::knowledge_sources
