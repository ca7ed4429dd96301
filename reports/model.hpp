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

// One MPI or POSIX function over all ranks of a program. Sums come from exact totals. Min, max and histogram come from
// recorded events: they cover all calls unless the ledger declares drops.
struct FunctionProfile {
  std::string function;  // "MPI_Send", "write"
  std::string category;  // "point-to-point", "collective", "wait", "one-sided", "io", "management", …
  std::uint64_t calls = 0;
  double seconds = 0;                // over all ranks and threads
  std::uint64_t bytes = 0;           // sum over calls of bytes sent, or of bytes received if a call sent none
  std::uint64_t bytes_sent = 0;      // POSIX: written
  std::uint64_t bytes_received = 0;  // POSIX: read
  double min_seconds = 0, mean_seconds = 0, max_seconds = 0;  // of one call
  // Calls by size in bytes: bucket 0 holds size 0, bucket k the sizes in [2^(k-1), 2^k).
  std::vector<std::uint64_t> calls_by_size;
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
  // The shortest mean run of contiguous memory in datatypes used here, bytes; 0: none is 64 bytes or shorter.
  std::uint32_t run_bytes = 0;
  // Non-blocking operations started here whose completion was recorded as an event: their number, the time from their
  // start to the end of the completing call, and the part of it that the completing call took.
  std::uint64_t operations = 0;
  double flight_seconds = 0, waited_seconds = 0;
};

// A place in which ranks sleep outside of MPI and I/O calls, by looks at their first threads; each rank's main one.
struct SleepSite {
  std::string symbol;       // calling function, demangled; "" unknown
  std::string source_file;  // "" unknown
  std::uint32_t line = 0;
  std::string module;        // path of the binary or library
  std::uint64_t offset = 0;  // return address in the module
  std::uint64_t looks = 0;   // that found them there
  std::uint32_t ranks = 0;
};

// Messages from source to target, counted once, at the sender (one-sided: at the origin).
struct Edge {
  std::uint32_t source = 0, target = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;  // in the sending (origin's) calls
};

// Rows that sum up several files: files beyond the table of a process, calls on unknown descriptors, compiled modules
// that Python loads.
inline constexpr std::string_view kFurtherFiles = "(further files)", kUnknownFile = "(unknown file)",
                                  kPythonModules = "(compiled modules of Python, *.pyc)";

struct FileProfile {
  std::string path;  // or a name in parentheses: "(standard output)", "(pipe)", one of those above
  std::uint64_t opens = 0, reads = 0, writes = 0, calls = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;
  double seconds = 0;
  std::uint32_t ranks = 0;
  // Accesses by where they begin, relative to the end of the rank's access before. A rank's first access is not
  // counted, nor are ranks with fewer than four accesses.
  std::uint64_t consecutive = 0, forward = 0, strided = 0, backward = 0;  // strided: forward by the same distance again
  // Accesses by size: up to 100 B, 1 KiB, 10 KiB, 100 KiB, 1 MiB, 4 MiB, 10 MiB, 100 MiB, 1 GiB, more. Empty: unknown.
  std::vector<std::uint64_t> read_sizes{}, write_sizes{};
};

// Places ranks in the cells of a map, row by row.
struct Layout {
  std::vector<std::uint32_t> extents;       // two or more; product >= ranks
  std::vector<std::uint32_t> rank_of_cell;  // empty: cell i is rank i; kNoRank: empty cell
  bool cartesian = false;                   // the program's own Cartesian topology
};

// Sums by rank for one function; "MPI" and "POSIX" stand for all functions of the class.
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

// Peak resident set of each rank over time since the program's MPI_Init.
struct MemoryProfile {
  double bin_seconds = 0;
  std::uint32_t bins = 0;
  std::vector<std::uint64_t> peak_bytes;  // peak_bytes[rank * bins + bin], at the end of the bin
  // By index into Application::hosts. 0: unknown, or for the limit: none below the host's memory.
  std::vector<std::uint64_t> host_bytes, limit_bytes;
};

// Waiting in MPI, measured from the calls of all participating ranks. docs/internals/knowledge_sources.md lists the
// patterns.
struct LongestWait {
  double seconds = 0;
  double begin_seconds = 0;                     // since the program's MPI_Init
  std::uint32_t waiter = 0, awaited = kNoRank;  // ranks of this program; awaited: kNoRank if in another program
  std::uint32_t awaited_other = kNoRank;        // world rank of the awaited process if in another program
};
struct WaitTotal {
  std::string pattern;  // "wait_nxn"
  double seconds = 0;   // over all ranks
  std::uint64_t occurrences = 0;
  LongestWait longest;
};
// Waiting in the calls of a function from one call site.
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
  std::uint32_t waiters = 0, first_waiter = 0, last_waiter = 0;  // number of waiting ranks, the lowest, the highest
  // The rank that caused most waiting here: a rank of this program, or the world rank in another one.
  std::uint32_t awaited = kNoRank, awaited_other = kNoRank;
  double awaited_seconds = 0;
};
struct WaitEdge {
  std::uint32_t waiter = 0, awaited = 0;
  double seconds = 0;
};
// Activity on which an awaited rank spent more time than the waiting ranks since their last synchronisation.
struct WaitCause {
  std::uint32_t rank = 0;           // the awaited one
  std::string symbol, source_file;  // "computation", "io": the function and its costliest line
  std::uint32_t line = 0;
  std::string kind;    // "computation"; "io": POSIX calls; "mpi": MPI calls; "other": outside of MPI, too few samples
  double seconds = 0;  // over all waits for the rank, as in `caused_seconds`
  double error = 0;    // sampling error, half width of the 99 % interval
};
// A rank of another program in the same world for which ranks of this program wait.
struct WaitedOther {
  std::string program;
  std::uint32_t rank = 0;  // in the world
  double seconds = 0;      // over all waits of this program's ranks for it
  WaitCause cause;         // the largest cause of its lateness and its share in seconds; kind "": unknown
};
struct RankSeconds {
  std::uint32_t rank = 0;
  double seconds = 0;
};
// One activity on the critical path, the chain of work that determines the run time.
struct PathPart {
  std::string kind;                 // as in WaitCause; "other": outside of MPI, not sampled
  std::string function;             // "mpi": the call
  std::string symbol, source_file;  // the function and its costliest line; "mpi": the call site
  std::uint32_t line = 0;
  double seconds = 0;
  double error = 0;  // half the width of the interval at 99 %
  // The rank with the largest part of `seconds`.
  std::uint32_t rank = 0;
  double rank_seconds = 0;
  std::vector<RankSeconds> by_rank{};  // the ranks with most of `seconds`, at most 64; descending. Empty: unknown
};
// Index = rank. All lists are empty if waiting was not measured.
struct RankWaiting {
  std::vector<double> waiting_seconds;        // the rank waited
  std::vector<double> caused_seconds;         // other ranks waited directly for this rank
  std::vector<double> origin_seconds;         // other ranks' chains of waits end at this rank: an estimate
  std::vector<double> critical_path_seconds;  // the critical path ran through this rank: exact
  // Upper bound of waiting during which the rank was runnable in MPI without a processor: an estimate. Empty: unknown.
  std::vector<double> without_processor_seconds;
};
// Messages sent and not received by the end of the run, by the call site of the send.
struct UnreceivedMessages {
  std::string function;
  std::string symbol, source_file;
  std::uint32_t line = 0;
  std::string module;
  std::uint64_t offset = 0;
  std::uint64_t messages = 0;
  std::uint32_t source = 0;  // sender and tag of one example
  std::int32_t tag = 0;
};
// Calls whose waiting is unknown, by reason.
struct UnresolvedCounts {
  std::uint64_t folded = 0;      // the event buffer was full: earlier calls became sums
  std::uint64_t incomplete = 0;  // a rank of the communicator, or the other end of the message, was not recorded
  std::uint64_t beyond_memory = 0;
  std::uint64_t other = 0;  // intercommunicators; several threads of a rank
  friend bool operator==(const UnresolvedCounts&, const UnresolvedCounts&) = default;
};
struct UnresolvedWaiting {
  UnresolvedCounts collective_calls, message_ends;
  double below_clock_seconds = 0;    // waits shorter than the error of the clocks
  double critical_path_seconds = 0;  // run time without a known path: memory for its waits ran out
  std::uint64_t late_waits = 0;      // waits that arrived after their part of the path was decided
};
// Waiting by groups of consecutive ranks and by bins of time since the program's MPI_Init.
struct WaitingOverTime {
  double bin_seconds = 0;
  std::uint32_t bins = 0, groups = 0, ranks_per_group = 1;
  std::vector<double> seconds;  // seconds[group * bins + bin], over the ranks of the group
};
// POP efficiencies: parallel = load_balance × serialisation × transfer. Estimates. All 0: waiting is unknown.
struct ParallelEfficiency {
  double load_balance = 0, serialisation = 0, transfer = 0, parallel = 0;
};
// POP efficiencies in each bin of time, computed from groups of ranks. The last bin may be shorter.
struct EfficiencyOverTime {
  double bin_seconds = 0;
  std::vector<double> load_balance, serialisation, transfer, parallel;
};
struct Waiting {
  std::vector<WaitTotal> patterns;      // sorted by seconds, descending
  std::vector<WaitSite> call_sites;     // by waiting_seconds, descending
  std::vector<WaitEdge> edges;          // by (waiter, awaited)
  std::vector<WaitEdge> edges_between;  // for ranks of other programs, in world ranks; likewise sorted
  std::vector<WaitedOther> others;      // the most awaited ranks of other programs; by seconds, descending
  RankWaiting per_rank;
  std::vector<UnreceivedMessages> unreceived;  // by messages, descending; also empty if any message is unknown
  std::vector<WaitCause> causes;               // of the most awaited ranks; for each rank by seconds, descending
  std::vector<PathPart> critical_path;         // by seconds, descending
  double critical_path_seconds = 0;            // sum of critical_path, and of per_rank.critical_path_seconds
  double critical_path_elsewhere_seconds = 0;  // the path ran through other programs of the world
  ParallelEfficiency efficiency;
  WaitingOverTime over_time;
  EfficiencyOverTime efficiency_over_time;
  std::uint64_t resolved_calls = 0;     // collective calls whose waiting is known
  std::uint64_t resolved_messages = 0;  // messages whose waiting is known
  UnresolvedWaiting unresolved;
};

// Per-rank sums, index = rank.
struct RankSummary {
  std::vector<double> wall_seconds, mpi_seconds, io_seconds;
  // The parts of mpi_seconds and io_seconds in the thread that called MPI_Init.
  std::vector<double> first_mpi_seconds, first_io_seconds;
  // Counted by the kernel between MPI_Init and MPI_Finalize; 0: unknown.
  std::vector<double> cpu_seconds;      // CPU time of the thread that called MPI_Init
  std::vector<double> waiting_seconds;  // that thread was runnable and waited for a processor
  // How often that thread was seen asleep or blocked, outside of MPI and I/O calls, and in them. Both 0: unknown.
  std::vector<std::uint32_t> asleep_outside, asleep_inside;
  // The looks outside, by reason: another thread (lock, condition, end), a pause, another program, a lock of a file;
  // the rest: unknown.
  std::vector<std::uint32_t> asleep_for_thread, asleep_for_time, asleep_for_program, asleep_for_file_lock;
  std::vector<double> process_cpu_seconds;
  std::vector<double> children_cpu_seconds;      // of processes that the rank started and waited for
  std::vector<std::uint64_t> peak_memory_bytes;  // peak resident set since the start of the process
  std::vector<std::uint32_t> host;               // index into Application::hosts
  // Processors in the affinity mask: their number, the first one, and the number of the host; 0: unknown.
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
  bool analyzers_lost = false;       // records were lost with analyzers that were killed
  double record_cost_seconds = 0;    // mean cost of recording a call, measured (an estimate)
  double overhead_seconds = 0;       // an estimate over all ranks: the sum of the next three, which are 0 in old files
  double recording_seconds = 0;      // recorded calls × record_cost_seconds
  double sending_seconds = 0;        // reducing full buffers and sending; includes blocked_seconds
  double sampling_seconds = 0;
  double analyzer_cpu_seconds = 0;  // of the first analyzer while the programs ran, if on a host of this one
  std::string clock;                // name and kind
  double clock_error_seconds = 0;   // bound
  std::uint64_t unresolved_call_sites = 0;
  std::vector<std::string> notices;  // sentences: what was not measured, and why
};

struct Communicator {
  std::string name;
  std::uint32_t size = 0;
  std::uint32_t count = 0;  // communicators of this size and name; if they share ranks, each has an entry of its own
  // The number of the rank's communicator from 1 on; 0: none. Empty: they hold one rank, or all ranks, or share ranks.
  std::vector<std::uint32_t> group_of_rank;
  // The group with the lowest parallel efficiency, and its number in group_of_rank; 0: unknown.
  ParallelEfficiency efficiency;
  std::uint32_t least_efficient = 0;
  double balance_between = 0;  // mean ÷ maximum of the groups' mean useful times; 0: unknown
};

struct Application {
  std::string name;     // unique in the run
  std::string command;  // as one line, shell quoted
  std::string working_directory;
  std::uint32_t partition = 0;    // programs with equal numbers share one MPI_COMM_WORLD
  std::uint32_t first_rank = 0;   // rank i of all lists here is rank first_rank + i of that world
  std::uint32_t world_ranks = 0;  // ranks of all programs of that world
  std::uint32_t ranks = 0;
  std::uint32_t threads = 0;  // most recording threads in one rank
  std::string thread_level;   // "MPI_THREAD_SINGLE" …
  std::vector<std::string> hosts;
  // By host: threads of the launch's other programs that needed a processor there, a mean over this program's run, an
  // estimate. Empty: there is no other program, or it is not known.
  std::vector<double> other_threads;
  double wall_seconds = 0;                  // from the end of MPI_Init to the start of MPI_Finalize, maximum over ranks
  double init_seconds = 0;                  // MPI_Init, maximum over ranks
  double start_seconds = 0;                 // from the first MPI_Init of the run to the first one of this program
  std::vector<FunctionProfile> mpi, posix;  // sorted by seconds, descending
  std::vector<CallSite> call_sites;         // likewise
  std::vector<SleepSite> sleep_sites;       // sorted by looks, descending
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
  // Tables of third-party plug-ins: {"plug-in name": {"title": "...", "columns": [...], "rows": [[...]]}}.
  // Null if there are none; extensions.hpp reads and extends it.
  std::shared_ptr<const nlohmann::json> extensions;
};

// An option of the run, as programs and analyzers received it.
struct RunSetting {
  std::string name;    // "sample-share"
  std::string value;   // as given, or the default in words: "by the event"
  std::string set_by;  // "default", "command line", "environment"
};

struct Run {
  int schema_version = kSchemaVersion;
  std::string tool_version;
  std::string started;  // ISO 8601, UTC
  std::string command;  // the whole launch line; "": unknown
  std::vector<RunSetting> settings;
  std::uint32_t universe_ranks = 0;
  std::uint32_t analyzer_ranks = 0;
  std::uint32_t analyzer_workers = 0;  // threads in each
  double analysis_seconds = 0;         // from the last end of a program to the finished model
  std::string ended_by;                // what ended the programs: "SIGTERM to ardoise"; "": they ended, or unknown
  bool running = false;                // written while the programs ran
  std::vector<Application> applications;
  std::vector<std::string> notices;  // about the run: failed plug-ins, refused packs …
};

}  // namespace ardoise::reports
