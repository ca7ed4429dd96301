// What is known of a program once all its definitions are in: turns the numbers of records (ranks of communicators,
// ticks, call sites, files) into what a report says, and gives the exact sums of every function in every rank. Built by
// Level after the last absorb(), handed to Analysis::contribute(). Read only; one thread.
//
// It is an interface, so that a plug-in needs nothing of its implementation (level_resolver.hpp) linked in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/format/definitions.hpp"
#include "instrument/format/event_format.hpp"

namespace ardoise::knowledge_sources {

// Answers of Resolver::world_rank that are no rank.
inline constexpr std::int64_t kOutsideWorld = -1;  // a process that is not in the program's world (spawned, connected)
inline constexpr std::int64_t kUnknownRank = -2;   // the communicator's definition did not arrive

// Calls, ticks and bytes of one function in one rank; record_class tells MPI (PackClass::kMpi) from POSIX (kPosix).
using FunctionSums = instrument::TotalsRecord;

// Where a call was made. Everything empty or 0: not known.
struct Location {
  std::string module;        // path of the binary or library
  std::uint64_t offset = 0;  // return address in the module
  std::string symbol;        // calling function, demangled
  std::string source_file;
  std::uint32_t line = 0;
};

// One frame of a call stack. Everything empty or 0: not known.
struct SourceFrame {
  std::string symbol;  // demangled
  std::string source_file;
  std::uint32_t line = 0;
  // Where the function itself begins, which may be another file than that of the line.
  std::string function_file;
  std::uint32_t function_line = 0;
  std::string optimization{};  // of its compilation unit: "-O2"; "" unknown
};

struct ModuleFacts {
  std::string_view path, build_id;
};

struct ProcessFacts {
  instrument::ProcessDefinition process{};
  std::string_view program, command_line, host, directory;
  bool has_process = false;  // else the fields above are zero
  instrument::ClockDefinition clock{};
  std::string_view clock_name, node;
  bool has_clock = false;
  instrument::UsageDefinition usage{};
  bool has_usage = false;
  instrument::MemoryDefinition memory{};
  std::span<const instrument::MemoryPoint> memory_points;  // empty: not told
  std::uint32_t threads = 0;                               // that recorded
};

// What the pack headers of one rank said, and what arrived.
struct RankLedger {
  std::uint64_t packs = 0, pack_bytes = 0;
  std::uint64_t mpi_received = 0, posix_received = 0, samples_received = 0;  // records, and those behind aggregates
  std::uint64_t queries = 0;                          // calls that were told in sums without being recorded
  std::uint64_t next_sequence = 0;                    // sequence number of the latest pack + 1; 0: no pack
  instrument::ClassLedger mpi{}, posix{}, samples{};  // of the latest pack
  std::uint64_t blocked_ticks = 0;                    // likewise
  std::uint64_t sending_ticks = 0;                    // likewise
  std::uint64_t origin_tick = 0;                      // origin of the program's time on this rank's clock; 0: unknown
  std::uint64_t last_tick = 0;                        // latest of all records
  double ticks_per_second = 0;                        // as known to the latest pack; 0: unknown
  std::uint32_t threads = 0;                          // greatest thread number + 1
  std::uint32_t complete = 0;                         // 1: the rank's last pack arrived
};

// Where a program's ranks are in its world.
struct WorldPart {
  std::uint32_t first_rank = 0;
  std::uint32_t world_ranks = 0;
};

struct CommunicatorFacts {
  std::string name;
  std::uint32_t size = 0;
  std::uint32_t count = 0;  // communicators of this size and name
  // 1, 2, …: in which of them a rank is; 0: in none. Empty: they are of one rank, of all, or share ranks.
  std::vector<std::uint32_t> group_of_rank;
};

// Those of equal group and instance are one communicator, on both sides of an intercommunicator.
struct CommunicatorOfRank {
  std::uint32_t number = 0;  // in the rank
  bool is_inter = false;
  std::uint64_t group = 0;
  std::uint32_t instance = 0;
  std::uint32_t size = 0, remote_size = 0;
  std::string_view name;
  std::span<const instrument::TopologyDimension> grid{};  // its Cartesian topology; empty: it has none
};

class Resolver {
 public:
  virtual ~Resolver() = default;

  // The program's name, unique in the launch.
  [[nodiscard]] virtual std::string_view name() const { return ""; }
  [[nodiscard]] virtual std::uint32_t ranks() const = 0;
  [[nodiscard]] virtual WorldPart place() const { return {0, ranks()}; }
  // The resolvers of all programs of its world, this one among them, by first rank. Empty: it is alone there.
  [[nodiscard]] virtual std::span<const Resolver* const> of_world() const { return {}; }
  [[nodiscard]] virtual const ProcessFacts& process(std::uint32_t rank) const = 0;
  [[nodiscard]] virtual const RankLedger& ledger(std::uint32_t rank) const = 0;
  // Of the rank's clock definition, else of its packs, else the level's nominal rate.
  [[nodiscard]] virtual double seconds_per_tick(std::uint32_t rank) const = 0;

  // Exact totals where they were sent, else sums of the recorded events; sorted by (record_class, function).
  [[nodiscard]] virtual std::span<const FunctionSums> sums(std::uint32_t rank) const = 0;

  // The rank in the program's world, which has ranks of other programs, too, where place() says so, of `peer` in
  // communicator `comm` of `rank` (an intercommunicator: of its remote group); or kOutsideWorld, kUnknownRank.
  [[nodiscard]] virtual std::int64_t world_rank(std::uint32_t rank, std::uint32_t comm, std::int32_t peer) const = 0;

  // The name of a communicator of the rank; "" where it has none, or was never defined.
  [[nodiscard]] virtual std::string_view communicator(std::uint32_t rank, std::uint32_t comm) const = 0;
  // By number.
  [[nodiscard]] virtual std::vector<CommunicatorOfRank> communicators_of(std::uint32_t) const { return {}; }
  // As world_rank() of each of its ranks, or of its remote group; empty: its definition did not arrive.
  [[nodiscard]] virtual std::vector<std::int64_t> members(std::uint32_t, std::uint32_t, bool) const { return {}; }

  [[nodiscard]] virtual const Location& call_site(std::uint32_t id) const = 0;
  // Both empty for numbers that were never defined.
  [[nodiscard]] virtual ModuleFacts module(std::uint32_t rank, std::uint32_t module) const = 0;
  // The frames at a return address of a module, innermost first (inlined functions, then the one that contains them);
  // for the address of an instruction give offset + 1. Takes microseconds: ask for each address once.
  [[nodiscard]] virtual std::vector<SourceFrame> frames(const ModuleFacts& module, std::uint64_t offset) const = 0;
  // The place in a function of Python that an offset with module kPythonModule is. Never defined: all empty.
  [[nodiscard]] virtual SourceFrame python(std::uint32_t rank, std::uint64_t offset) const = 0;
  // How the rank accessed its files, by their numbers.
  [[nodiscard]] virtual std::span<const instrument::FileAccessDefinition> accesses(std::uint32_t rank) const = 0;
  // "" for file 0 and for numbers that were never defined.
  [[nodiscard]] virtual std::string_view file(std::uint32_t rank, std::uint32_t file) const = 0;

  // The extents of the first Cartesian topology that spans the whole program, and the rank in it of each of its cells.
  struct Cartesian {
    std::vector<std::uint32_t> extents;
    std::vector<std::uint32_t> rank_of_cell;
  };
  [[nodiscard]] virtual std::optional<Cartesian> cartesian() const = 0;
  [[nodiscard]] virtual std::vector<CommunicatorFacts> communicators() const = 0;  // greatest first
  [[nodiscard]] virtual std::vector<std::string> notices() const = 0;              // of the program's processes
};

}  // namespace ardoise::knowledge_sources
