// The model: the finished numbers of a run, as data, before any rendering. Knowledge sources fill it, model_json.hpp
// writes and reads it as profile.json (schema: docs/reference/profile_schema.md), every renderer works from it alone.
// Units stand in the names; times are seconds, sizes bytes, ranks those of the program, from 0 on.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "reports/ending.hpp"
#include "reports/sample_profile.hpp"
#include "reports/snapshots.hpp"

namespace ardoise::reports {

// 2: Application::samples. 3: programs that share a world; CPU time and memory of ranks. Files of older versions are
// read as profiles without these.
inline constexpr int kSchemaVersion = 3;

inline constexpr std::uint32_t kNoRank = 0xFFFFFFFF;

// Calls by size in bytes: bucket 0 holds size 0, bucket k the sizes in [2^(k-1), 2^k).
struct SizeHistogram {
  std::vector<std::uint64_t> calls;
};

// One MPI or POSIX function over all ranks of a program. Sums come from exact totals; min, max and histogram from the
// recorded events (equal unless the ledger declares drops).
struct FunctionProfile {
  std::string function;  // "MPI_Send", "write"
  std::string category;  // "point-to-point", "collective", "wait", "one-sided", "io", "management", …
  std::uint64_t calls = 0;
  double seconds = 0;                // over all ranks and threads
  std::uint64_t bytes = 0;           // for each call what it sent, or what it received where it sent nothing
  std::uint64_t bytes_sent = 0;      // POSIX: written
  std::uint64_t bytes_received = 0;  // POSIX: read
  double min_seconds = 0, mean_seconds = 0, max_seconds = 0;  // of one call
  SizeHistogram sizes;
};

struct CallSite {
  std::string function;     // MPI or POSIX function called
  std::string symbol;       // calling function, demangled; "" unknown
  std::string source_file;  // "" unknown
  std::uint32_t line = 0;
  std::string module;        // path of the binary or library
  std::uint64_t offset = 0;  // return address in the module
  std::uint64_t calls = 0;
  double seconds = 0;
  std::uint64_t bytes = 0;
  double min_seconds = 0, mean_seconds = 0, max_seconds = 0;
  std::uint32_t ranks = 0;  // ranks that called from here
  // Non-blocking operations that were started here: how many, from their start to the end of the call that completed
  // them, and of that in this call. Of those whose completion was recorded as an event.
  std::uint64_t operations = 0;
  double flight_seconds = 0, waited_seconds = 0;
};

// Messages from source to target, counted once, at the sender (one-sided: at the origin).
struct Edge {
  std::uint32_t source = 0, target = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;  // in the sending (origin's) calls
};

// Rows of files that were not told apart: of more files than a process has room to name, of calls whose file is not
// known, of modules that Python loads.
inline constexpr std::string_view kFurtherFiles = "(further files)", kUnknownFile = "(unknown file)",
                                  kPythonModules = "(compiled modules of Python, *.pyc)";

struct FileProfile {
  std::string path;  // or a name in parentheses: "(standard output)", "(pipe)", one of those above
  std::uint64_t opens = 0, reads = 0, writes = 0, calls = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;
  double seconds = 0;
  std::uint32_t ranks = 0;
  // Accesses by POSIX calls against the end of the one before of the same rank; the first is none of these. Of ranks
  // with four accesses and more.
  std::uint64_t consecutive = 0, forward = 0, strided = 0, backward = 0;  // strided: forward by the same distance again
  // By size: up to 100 B, 1 KiB, 10 KiB, 100 KiB, 1 MiB, 4 MiB, 10 MiB, 100 MiB, 1 GiB, more. Empty: not told.
  std::vector<std::uint64_t> read_sizes{}, write_sizes{};
};

// How ranks are laid out as cells of a map, row by row.
struct Layout {
  std::vector<std::uint32_t> extents;       // two or more; product >= ranks
  std::vector<std::uint32_t> rank_of_cell;  // empty: cell i is rank i; kNoRank: empty cell
  bool cartesian = false;                   // the program's own Cartesian topology
};

// One cell a rank, for one function (or "MPI", "POSIX": all of them).
struct DensityMap {
  std::string function;
  std::vector<std::uint64_t> calls;
  std::vector<double> seconds;
  std::vector<std::uint64_t> bytes;
};

// Share of time in each class of calls, for groups of consecutive ranks, over time since the program's MPI_Init.
struct TemporalMap {
  double bin_seconds = 0;
  std::uint32_t bins = 0;
  std::uint32_t ranks_per_group = 1;
  std::vector<std::string> classes;  // "point-to-point", "collective", "wait", "io", …
  // share[(class * groups + group) * bins + bin], 0 … 1, of the group's available rank-seconds (threads may exceed:
  // clamped)
  std::uint32_t groups = 0;
  std::vector<float> share;
};

// The greatest resident set of each rank so far, over the time since the program's MPI_Init.
struct MemoryProfile {
  double bin_seconds = 0;
  std::uint32_t bins = 0;
  std::vector<std::uint64_t> peak_bytes;  // peak_bytes[rank * bins + bin], at the end of the bin
  // By index into Application::hosts; 0: not known, or no limit that is less.
  std::vector<std::uint64_t> host_bytes, limit_bytes;
};

// Waiting in MPI, as measured from the calls of all ranks that took part: docs/internals/knowledge_sources.md has the
// patterns.
struct LongestWait {
  double seconds = 0;
  double begin_seconds = 0;                     // since the program's MPI_Init
  std::uint32_t waiter = 0, awaited = kNoRank;  // ranks; awaited: kNoRank where it is not one of the program
  std::uint32_t awaited_other = kNoRank;        // a rank of another program, by its rank in the world
};
struct WaitTotal {
  std::string pattern;  // "wait_nxn"
  double seconds = 0;   // over all ranks
  std::uint64_t occurrences = 0;
  LongestWait longest;
};
// In the calls of a function from one place.
struct WaitSite {
  std::string function;
  std::string symbol, source_file;
  std::uint32_t line = 0;
  std::string module;
  std::uint64_t offset = 0;
  std::string pattern;
  double waiting_seconds = 0;
  std::uint64_t occurrences = 0;
  LongestWait longest;
  std::uint32_t waiters = 0, first_waiter = 0, last_waiter = 0;  // how many ranks waited there, and which
  // The rank that most was waited for there, and how long: one of the program, or of another one, by its rank in the
  // world.
  std::uint32_t awaited = kNoRank, awaited_other = kNoRank;
  double awaited_seconds = 0;
};
struct WaitEdge {
  std::uint32_t waiter = 0, awaited = 0;
  double seconds = 0;
};
// What a rank that is waited for did longer than those that waited, since they met before.
struct WaitCause {
  std::uint32_t rank = 0;           // the awaited one
  std::string symbol, source_file;  // "computation", "io": the function, and its line with most of it
  std::uint32_t line = 0;
  std::string kind;  // "computation"; "io": a call of POSIX; "mpi": calls of MPI; "other": outside of MPI, not sampled
                     // or too little
  double seconds = 0;  // over all waits for the rank, as `caused_seconds` is
  double error = 0;    // of sampling, at 99 %
};
// A rank of another program of the world that ranks of this one wait for.
struct WaitedOther {
  std::string program;
  std::uint32_t rank = 0;  // in the world
  double seconds = 0;      // over all waits of this program's ranks for it
  WaitCause cause;         // the first of what made it late, as its part in these; kind "": not known
};
// What was done on the critical path: the chain of work that determined how long the run took.
struct PathPart {
  std::string kind;                 // as of a cause; "other": outside of MPI, not sampled
  std::string function;             // "mpi": the call
  std::string symbol, source_file;  // the function, and its line with most of it; "mpi": where it was called
  std::uint32_t line = 0;
  double seconds = 0;
  double error = 0;  // half the width of the interval at 99 %
  // The rank that did most of it there.
  std::uint32_t rank = 0;
  double rank_seconds = 0;
};
// Index = rank; all empty: not measured.
struct RankWaiting {
  std::vector<double> waiting_seconds;        // it waited
  std::vector<double> caused_seconds;         // others waited for it
  std::vector<double> origin_seconds;         // others waited, at the end of chains of waits, for it: an estimate
  std::vector<double> critical_path_seconds;  // the critical path was in it: exact
  // Of its waiting at most: it was ready to run in MPI, and another process had its processor: an estimate. Empty: not
  // known.
  std::vector<double> without_processor_seconds;
};
// Messages that were sent and not received by the end of the run, by the calls that sent them.
struct UnreceivedMessages {
  std::string function;
  std::string symbol, source_file;
  std::uint32_t line = 0;
  std::string module;
  std::uint64_t offset = 0;
  std::uint64_t messages = 0;
  std::uint32_t source = 0;  // of one of them: the rank, and its tag
  std::int32_t tag = 0;
};
// Of what the waiting is not known, and why.
struct UnresolvedCounts {
  std::uint64_t folded = 0;      // memory was short: calls before them became sums
  std::uint64_t incomplete = 0;  // not all ranks of the communicator, or not the other end of a message, were seen
  std::uint64_t beyond_memory = 0;
  std::uint64_t other = 0;  // intercommunicators; several threads of a rank
  friend bool operator==(const UnresolvedCounts&, const UnresolvedCounts&) = default;
};
struct UnresolvedWaiting {
  UnresolvedCounts collective_calls, message_ends;
  double below_clock_seconds = 0;    // waits that are shorter than the error of the clocks
  double critical_path_seconds = 0;  // of the run, of which the path is not known: there was no memory for its waits
  std::uint64_t late_waits = 0;      // that became known when their part of the path was decided
};
// By groups of consecutive ranks and bins of time since the program's MPI_Init.
struct WaitingOverTime {
  double bin_seconds = 0;
  std::uint32_t bins = 0, groups = 0, ranks_per_group = 1;
  std::vector<double> seconds;  // seconds[group * bins + bin], over the ranks of the group
};
// Of POP: parallel = load_balance × serialisation × transfer. All 0: waiting is not known. Estimates.
struct ParallelEfficiency {
  double load_balance = 0, serialisation = 0, transfer = 0, parallel = 0;
};
// The same in each bin of time, from times of groups of ranks; the last may be shorter.
struct EfficiencyOverTime {
  double bin_seconds = 0;
  std::vector<double> load_balance, serialisation, transfer, parallel;
};
struct Waiting {
  std::vector<WaitTotal> patterns;   // sorted by seconds, descending
  std::vector<WaitSite> call_sites;  // by waiting_seconds, descending
  std::vector<WaitEdge> edges;       // by (waiter, awaited)
  std::vector<WaitEdge> edges_between;  // likewise, for ranks of other programs, in ranks of the world
  std::vector<WaitedOther> others;      // that are waited for most; by seconds, descending
  RankWaiting per_rank;
  std::vector<UnreceivedMessages> unreceived;  // by messages, descending; empty, too, where not all is known
  std::vector<WaitCause> causes;               // of the ranks that are waited for most; for each by seconds, descending
  std::vector<PathPart> critical_path;         // by seconds, descending
  double critical_path_seconds = 0;            // sum of these, and of the ranks' parts
  double critical_path_elsewhere_seconds = 0;  // where it is in other programs of the world
  ParallelEfficiency efficiency;
  WaitingOverTime over_time;
  EfficiencyOverTime efficiency_over_time;
  std::uint64_t resolved_calls = 0;     // of collectives, of which the waiting is known
  std::uint64_t resolved_messages = 0;  // likewise
  UnresolvedWaiting unresolved;
};

// Per-rank sums, index = rank.
struct RankSummary {
  std::vector<double> wall_seconds, mpi_seconds, io_seconds;
  // What the kernel counted between MPI_Init and MPI_Finalize; 0: not told.
  std::vector<double> cpu_seconds;      // of the thread that called MPI_Init
  std::vector<double> waiting_seconds;  // that thread, ready to run, waited for a processor
  std::vector<double> process_cpu_seconds;
  std::vector<std::uint64_t> peak_memory_bytes;  // resident, from the start of the process on
  std::vector<std::uint32_t> host;               // index into Application::hosts
  // Those that its threads may use, by the kernel's affinity: how many, the first, and how many the host has; 0: not
  // told.
  std::vector<std::uint32_t> processors, first_processor, host_processors;
};

struct Ledger {
  std::string record_class;  // "mpi", "posix"
  std::uint64_t recorded = 0, received = 0, dropped = 0;
  std::uint64_t lost = 0;  // recorded - received - dropped: must be 0
};

struct Quality {
  std::vector<Ledger> ledger;
  std::uint64_t packs = 0, pack_bytes = 0, bad_packs = 0;
  double blocked_seconds = 0;        // programs waiting for a free buffer, summed over ranks
  std::uint32_t ranks_complete = 0;  // ranks whose last pack arrived
  bool analyzers_lost = false;       // some of what had arrived went with analyzers that were killed
  double record_cost_seconds = 0;    // measured cost of one recorded call, mean of all calls (an estimate)
  double overhead_seconds = 0;   // an estimate, summed over ranks, of the three that follow; these are 0 in old files
  double recording_seconds = 0;  // recorded calls x cost of one
  double sending_seconds = 0;    // making room and sending; blocked_seconds is a part of it
  double sampling_seconds = 0;
  std::string clock;                 // name and kind
  double clock_error_seconds = 0;    // bound
  std::uint64_t unresolved_call_sites = 0;
  std::vector<std::string> notices;  // sentences: what was not seen and why
};

struct Communicator {
  std::string name;
  std::uint32_t size = 0;
  std::uint32_t count = 0;  // communicators of this size and name; those that share ranks are told apart
  // 1, 2, …: in which of them a rank is; 0: in none. Empty: they are of one rank, or of all, or share ranks.
  std::vector<std::uint32_t> group_of_rank;
  // Of the ranks alone that work least efficiently together, and which in group_of_rank they are; 0: not known.
  ParallelEfficiency efficiency;
  std::uint32_t least_efficient = 0;
  double balance_between = 0;  // mean ÷ greatest of the groups' mean useful times; 0: not known
};

struct Application {
  std::string name;     // unique in the run
  std::string command;  // as one line, shell quoted
  std::string working_directory;
  std::uint32_t partition = 0;    // programs with equal numbers share one MPI_COMM_WORLD
  std::uint32_t first_rank = 0;   // in it: rank i of all lists here is rank first_rank + i of the world
  std::uint32_t world_ranks = 0;  // of all programs in it
  std::uint32_t ranks = 0;
  std::uint32_t threads = 0;  // most recording threads in one rank
  std::string thread_level;   // "MPI_THREAD_SINGLE" …
  std::vector<std::string> hosts;
  double wall_seconds = 0;                  // longest rank, from the end of MPI_Init to the start of MPI_Finalize
  double init_seconds = 0;                  // longest MPI_Init
  double start_seconds = 0;                 // of its first rank's MPI_Init after the first of the run
  std::vector<FunctionProfile> mpi, posix;  // sorted by seconds, descending
  std::vector<CallSite> call_sites;         // likewise
  std::vector<Edge> edges;                  // within the program, sorted by (source, target)
  std::vector<Edge> edges_between;          // with other programs of the world, by ranks of the world; likewise
  std::vector<FileProfile> files;           // sorted by seconds, descending
  std::vector<Communicator> communicators;
  Layout layout;
  std::vector<DensityMap> density;
  TemporalMap temporal;
  RankSummary per_rank;
  MemoryProfile memory;
  Waiting waiting;
  Snapshots snapshots;
  SampleProfile samples;
  Ending ending;
  Quality quality;
  [[nodiscard]] std::uint32_t world_rank(std::uint32_t rank) const { return first_rank + rank; }
  // What plug-ins of third parties add: {"plug-in name": {"title": "...", "columns": [...], "rows": [[...]]}}.
  // Null where there is nothing; extensions.hpp reads it and adds to it.
  std::shared_ptr<const nlohmann::json> extensions;
};

// An option of the run, as programs and analyzers were told it.
struct RunSetting {
  std::string name;    // "sample-share"
  std::string value;   // as given, or what happens without it: "by the event"
  std::string set_by;  // "default", "command line", "environment"
};

struct Run {
  int schema_version = kSchemaVersion;
  std::string tool_version;
  std::string started;  // ISO 8601, UTC
  std::string command;  // the whole launch line, when known
  std::vector<RunSetting> settings;
  std::uint32_t universe_ranks = 0;
  std::uint32_t analyzer_ranks = 0;
  std::uint32_t analyzer_workers = 0;  // threads in each
  double analysis_seconds = 0;         // from the last end of a program to the finished model
  std::string ended_by;                // what ended the programs: "SIGTERM to ardoise"; "": they themselves, or unknown
  bool running = false;                // the programs ran on when this was written
  std::vector<Application> applications;
  std::vector<std::string> notices;  // of the run: plug-ins that failed, packs that were refused …
};

}  // namespace ardoise::reports
