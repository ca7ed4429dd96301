// A program's definitions when all have arrived: translates the numbers of records (ranks of communicators, ticks, call
// sites, files) for the report, and gives the exact sums of every function in every rank. Built by Level after the last
// absorb(), passed to Analysis::contribute(). Read only; one thread.
//
// It is an interface, so that a plug-in needs no implementation (level_resolver.hpp) linked in.
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

// Results of Resolver::world_rank that are no rank.
inline constexpr std::int64_t kOutsideWorld = -1;  // a process outside the program's world (spawned, connected)
inline constexpr std::int64_t kUnknownRank = -2;   // the communicator's definition did not arrive

// Calls, ticks and bytes of one function in one rank; record_class tells MPI (PackClass::kMpi) from POSIX (kPosix).
using FunctionSums = instrument::TotalsRecord;

// Location of a call. Empty or 0: unknown.
struct Location {
  std::string module;        // path of the binary or library
  std::uint64_t offset = 0;  // return address in the module
  std::string symbol;        // calling function, demangled
  std::string source_file;
  std::uint32_t line = 0;
  std::uint32_t run_bytes = 0;  // shortest mean run of memory in datatypes used there; 0: none is short
};

// One frame of a call stack. Empty or 0: unknown.
struct SourceFrame {
  std::string symbol;  // demangled
  std::string source_file;
  std::uint32_t line = 0;
  // Start of the function itself, which may be in another file than the line.
  std::string function_file;
  std::uint32_t function_line = 0;
  std::string optimization{};  // of its compilation unit: "-O2"; "": unknown
};

struct ModuleFacts {
  std::string_view path, build_id;
};

struct ProcessFacts {
  instrument::ProcessDefinition process{};
  std::string_view program, command_line, host, directory;
  bool has_process = false;  // otherwise the fields above are zero
  instrument::ClockDefinition clock{};
  std::string_view clock_name, node;
  bool has_clock = false;
  instrument::UsageDefinition usage{};
  bool has_usage = false;
  instrument::MemoryDefinition memory{};
  std::span<const instrument::MemoryPoint> memory_points;  // empty: not reported
  std::uint32_t threads = 0;                               // threads that recorded
};

// Content of the pack headers of one rank, and received records.
struct RankLedger {
  std::uint64_t packs = 0, pack_bytes = 0;
  std::uint64_t mpi_received = 0, posix_received = 0, samples_received = 0;  // records, and those behind aggregates
  std::uint64_t queries = 0;                                                 // calls reported in sums without records
  std::uint64_t next_sequence = 0;                    // sequence number of the latest pack + 1; 0: no pack
  instrument::ClassLedger mpi{}, posix{}, samples{};  // of the latest pack
  std::uint64_t blocked_ticks = 0;                    // of the latest pack
  std::uint64_t sending_ticks = 0;                    // of the latest pack
  // In calls of all threads, and of the thread that called MPI_Init, as far as received: for their ratio.
  std::uint64_t mpi_ticks = 0, first_mpi_ticks = 0, posix_ticks = 0, first_posix_ticks = 0;
  std::uint64_t origin_tick = 0;                      // origin of the program's time on this rank's clock; 0: unknown
  std::uint64_t last_tick = 0;                        // latest of all records
  double ticks_per_second = 0;                        // of the latest pack; 0: unknown
  std::uint32_t threads = 0;                          // highest thread number + 1
  std::uint32_t complete = 0;                         // 1: the rank's last pack arrived
};

// The ranks of a program in its world.
struct WorldPart {
  std::uint32_t first_rank = 0;
  std::uint32_t world_ranks = 0;
};

struct CommunicatorFacts {
  std::string name;
  std::uint32_t size = 0;
  std::uint32_t count = 0;  // communicators of this size and name
  // 1, 2, …: the communicator that a rank is in; 0: none. Empty: they have one rank each, or all ranks, or share ranks.
  std::vector<std::uint32_t> group_of_rank;
};

// Equal group and instance mean one communicator, on both sides of an intercommunicator.
struct CommunicatorOfRank {
  std::uint32_t number = 0;  // in the rank
  bool is_inter = false;
  std::uint64_t group = 0;
  std::uint32_t instance = 0;
  std::uint32_t size = 0, remote_size = 0;
  std::string_view name;
  std::span<const instrument::TopologyDimension> grid{};  // its Cartesian topology; empty: none
};

class Resolver {
 public:
  virtual ~Resolver() = default;

  // The program's name, unique in the launch.
  [[nodiscard]] virtual std::string_view name() const { return ""; }
  [[nodiscard]] virtual std::uint32_t ranks() const = 0;
  [[nodiscard]] virtual WorldPart place() const { return {0, ranks()}; }
  // The resolvers of all programs of its world, this one included, by first rank. Empty: the world has one program.
  [[nodiscard]] virtual std::span<const Resolver* const> of_world() const { return {}; }
  [[nodiscard]] virtual const ProcessFacts& process(std::uint32_t rank) const = 0;
  [[nodiscard]] virtual const RankLedger& ledger(std::uint32_t rank) const = 0;
  // From the rank's clock definition, else from its packs, else the level's nominal rate.
  [[nodiscard]] virtual double seconds_per_tick(std::uint32_t rank) const = 0;

  // Exact totals if received, else sums of the recorded events; sorted by (record_class, function).
  [[nodiscard]] virtual std::span<const FunctionSums> sums(std::uint32_t rank) const = 0;

  // The world rank of `peer` in communicator `comm` of `rank` (for an intercommunicator: in its remote group), or
  // kOutsideWorld, kUnknownRank. The world includes ranks of other programs if place() says so.
  [[nodiscard]] virtual std::int64_t world_rank(std::uint32_t rank, std::uint32_t comm, std::int32_t peer) const = 0;

  // The name of a communicator of the rank; "" if it has none or was never defined.
  [[nodiscard]] virtual std::string_view communicator(std::uint32_t rank, std::uint32_t comm) const = 0;
  // By number.
  [[nodiscard]] virtual std::vector<CommunicatorOfRank> communicators_of(std::uint32_t) const { return {}; }
  // world_rank() of each of its ranks, or of its remote group; empty: its definition did not arrive.
  [[nodiscard]] virtual std::vector<std::int64_t> members(std::uint32_t, std::uint32_t, bool) const { return {}; }

  [[nodiscard]] virtual const Location& call_site(std::uint32_t id) const = 0;
  // Both are empty for undefined numbers.
  [[nodiscard]] virtual ModuleFacts module(std::uint32_t rank, std::uint32_t module) const = 0;
  // The frames at a return address of a module, innermost first (inlined functions, then the one that contains them);
  // for the address of an instruction pass offset + 1. Takes microseconds: ask for each address once.
  [[nodiscard]] virtual std::vector<SourceFrame> frames(const ModuleFacts& module, std::uint64_t offset) const = 0;
  // The place in a Python function for an offset with module kPythonModule. Undefined: all empty.
  [[nodiscard]] virtual SourceFrame python(std::uint32_t rank, std::uint64_t offset) const = 0;
  // Access flags of the rank's files, by file number.
  [[nodiscard]] virtual std::span<const instrument::FileAccessDefinition> accesses(std::uint32_t rank) const = 0;
  // "" for file 0 and for undefined numbers.
  [[nodiscard]] virtual std::string_view file(std::uint32_t rank, std::uint32_t file) const = 0;

  // The extents of the first Cartesian topology that spans the whole program, and the rank of each of its cells.
  struct Cartesian {
    std::vector<std::uint32_t> extents;
    std::vector<std::uint32_t> rank_of_cell;
  };
  [[nodiscard]] virtual std::optional<Cartesian> cartesian() const = 0;
  [[nodiscard]] virtual std::vector<CommunicatorFacts> communicators() const = 0;  // largest first
  [[nodiscard]] virtual std::vector<std::string> notices() const = 0;              // of the program's processes
};

}  // namespace ardoise::knowledge_sources
