// What stands beside the event files of a part of a trace: whose they are, and what the numbers in them mean. A file of
// the part's folder, written last: a part without it is not whole.
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

// Time 0 of the program, the end of MPI_Init in its rank 0, in the time stamps of its trace, which are nanoseconds and
// not negative. What is earlier than that has 0.
inline constexpr std::uint64_t kTraceLead = 100'000'000'000;

// Ticks of a rank to time stamps of its trace. One rate for the whole run, so that time never goes back where a process
// knows its rate better later: the archive says how the last one differs (clock offsets).
struct TraceClock {
  std::uint64_t origin_tick = 0;
  double ns_per_tick = 0;  // 0: not known yet

  [[nodiscard]] std::int64_t since_init(std::uint64_t tick) const {
    return static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(tick - origin_tick)) * ns_per_tick);
  }
  [[nodiscard]] std::uint64_t at(std::uint64_t tick) const {
    const std::int64_t time = since_init(tick) + static_cast<std::int64_t>(kTraceLead);
    return time < 0 ? 0 : static_cast<std::uint64_t>(time);
  }
};

// A region of a trace: a function of MPI or I/O where it is called, a phase of the program, or a sampled function.
struct TraceRegion {
  enum class Kind : std::uint32_t {
    kMpi,
    kPosix,
    kPhase,
    kSampled  // a function that samples are in: in archives only, where `function` tells those of MPI, 1
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

// Files are told apart by their number in the process, and by who accesses them.
constexpr std::uint32_t trace_handle(std::uint32_t file, bool is_mpi_io) { return file << 1 | (is_mpi_io ? 1u : 0u); }

// Of a program or a part of it: what is not in its trace as it was.
struct TraceLosses {
  std::uint64_t sums = 0;        // calls that became sums for want of memory
  std::uint64_t counted = 0;     // queries that are only counted
  std::uint64_t gaps = 0;        // places at which packs of a thread are missing
  std::uint64_t untimed = 0;     // calls of which it is not known where in time they lie
  std::uint64_t moved = 0;       // calls that were told too late, and are shown later than they were
  std::uint64_t incomplete = 0;  // operations that did not end
  std::uint64_t attributes = 0;  // that there was no room for
  std::uint64_t stacks = 0;      // call stacks of calls
  std::uint64_t limited = 0;     // records before what is shown, for which limit= had no room
  std::uint64_t moved_samples = 0, untimed_samples = 0;  // likewise

  void add(const TraceLosses& other);
};

struct TraceTables {
  struct Thread {  // a location
    std::uint32_t rank, thread;
    std::uint64_t events, first_time, last_time;
    std::uint64_t next_mpi, next_posix;  // PackHeader::order of the packs that would come next
  };
  struct Rank {
    std::uint32_t rank, reserved;
    TraceClock clock;
  };
  struct Use {  // of a communicator, a handle or a window (trace_windows.hpp)
    std::uint32_t rank, number;
    friend auto operator<=>(const Use&, const Use&) = default;
  };
  struct Group {  // of ranks of a communicator
    std::uint32_t rank, number, communicator;
    std::vector<std::int32_t> members;
  };
  struct Place {  // where samples were, by its number in the events of the thread
    SampleKey key;
    std::uint32_t number;
  };
  struct Samples {  // of a thread; its location is that of the thread kSamplesOfThread | thread
    std::uint32_t rank, thread, counters;
    std::vector<Place> places;
    std::vector<ContextEntry> contexts;  // summed up; also of a thread whose samples are in another part
    std::vector<std::uint64_t> counted;  // kMaxCounters: what its counters have come to
  };
  struct Stack {  // that calls of a thread came from: a calling context of it
    std::uint32_t rank, thread, context;
  };
  struct Sampler {  // of a rank: what it sampled
    std::uint32_t rank;
    instrument::SampleUnit unit;
    double hertz;          // at first; 0: not known
    std::uint64_t period;  // likewise, of a sampled event
    std::string event;
    std::vector<std::string> counters;
  };
  enum class GapKind : std::uint32_t { kSums, kMissing };
  struct Gap {  // a time of a rank in which calls are missing
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
  std::vector<Stack> stacks{};  // those of a thread together
  std::vector<RankText> rank_texts{};
  std::uint64_t attributes = 0;  // that are used: bits, by key
  std::vector<Gap> gaps{};
  TraceLosses losses{};
};

// In place of a thread's number: the location of its samples.
inline constexpr std::uint32_t kSamplesOfThread = 1u << 30;

// A location's number in the archive, and of its file. world_rank: of the program's world.
constexpr std::uint64_t trace_location(std::uint32_t world_rank, std::uint32_t thread) {
  return static_cast<std::uint64_t>(thread) << 32 | world_rank;
}

// False: the file could not be written.
[[nodiscard]] bool write_tables(const TraceTables& tables, const std::filesystem::path& part);
// Throws BadPartial where it is not what write_tables() writes, or not there.
[[nodiscard]] TraceTables read_tables(const std::filesystem::path& part);

}  // namespace ardoise::knowledge_sources
