// Definitions explain the numbers in records. Each is sent once, in a kDefinitions pack, before the first record that
// uses it leaves the process. A reader may meet them in any order (workers run concurrently) and resolves numbers at
// the end.
//
//   DefinitionHeader {kind, flags, bytes} | bytes of payload | zeros up to a multiple of 8
//
// A payload is one of the structures below followed by its strings. Each string is a uint32 length and its bytes,
// without a terminator, UTF-8 if the program's own string is. definition_reader.hpp checks and decodes,
// definition_writer.hpp encodes; no other code touches these bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {

enum class DefinitionKind : std::uint16_t {
  kProcess = 1,
  kClock = 2,
  kModule = 3,
  kCallSite = 4,
  kCommunicator = 5,
  kTopology = 6,
  kFile = 7,
  kThread = 8,
  kNotice = 9,
  kSampling = 10,
  kCounters = 11,
  kSamplerTotals = 12,
  kUsage = 13,
  kPythonCode = 14,
  kMemory = 15,
  kFileAccess = 16,
  kEnd = 17,
  kRecentCalls = 18,
  kStack = 19,
  kProcessState = 20,
  kMarkName = 21,
  kDatatype = 22,
  kCollectives = 23,
  kShortRuns = 24,
};

struct DefinitionHeader {
  std::uint16_t kind;
  std::uint16_t flags;
  std::uint32_t bytes;
};
static_assert(sizeof(DefinitionHeader) == 8);

// One for each process, the first definition of its first pack.
// Strings: program name, command line (arguments joined by '\0'), host name, working directory.
struct ProcessDefinition {
  std::uint32_t world_size;     // ranks of the program's world
  std::uint32_t universe_rank;  // rank in the real MPI_COMM_WORLD
  std::uint32_t pid;
  std::uint32_t thread_level;  // MPI_THREAD_SINGLE = 0 … MPI_THREAD_MULTIPLE = 3
  std::uint64_t begin_tick;    // end of MPI_Init
  std::uint64_t init_ticks;    // time spent in MPI_Init
  std::uint64_t budget_bytes;  // memory the recorder may use
  // The program's ranks in the world, [first_rank, first_rank + ranks): a world can have several programs.
  std::uint32_t first_rank;
  std::uint32_t ranks;
};

// Sent at the start and, with a better rate, at the end; the one with the greater `tick` counts.
// Strings: name of the clock ("tsc", "CLOCK_MONOTONIC"), an id of the node (boot id): equal ids share one clock.
struct ClockDefinition {
  std::uint64_t tick;         // a moment …
  std::uint64_t realtime_ns;  // … and its CLOCK_REALTIME in ns since 1970
  double ticks_per_second;
  double offset_seconds;        // added to this clock it gives the clock of universe rank 0
  double offset_error_seconds;  // bound of the error of the offset
  std::uint64_t end_tick;       // enter of MPI_Finalize; 0: not finalized yet
  double record_cost_ticks;     // mean over the recorded calls that were timed; without sending
};

// A loaded object. Strings: path, build id in hex (may be empty).
struct ModuleDefinition {
  std::uint32_t module;  // number in this process
  std::uint32_t reserved;
  std::uint64_t base;  // load bias
  std::uint64_t size;
};

// Used in place of a module's number: `offset` is a place in a Python function, code << 32 | byte of the instruction.
inline constexpr std::uint32_t kPythonModule = 0xFFFFFFFE;

// A function of a Python program. Code 1, the import of modules, is never defined; code 0 stands for functions that did
// not fit into memory. Strings: name, file, its line table in the format of its CPython version (cut at
// kMaxStringBytes). Minor version 0 means a function that a trace names (knowledge_sources/otf2/packs), not one of
// Python. It has no table: the byte of the instruction is the line, 0: not known.
struct PythonCodeDefinition {
  std::uint32_t code;   // number in this process
  std::uint32_t minor;  // version of CPython: 3.minor
  std::uint32_t first_line;
  std::uint32_t reserved;
};

// CallSiteId is a 32-bit hash of (module file name, build id, offset): equal in every process of a program. `offset`
// belongs to the return address; subtract 1 to look up the call. Strings: none.
struct CallSiteDefinition {
  std::uint32_t call_site;
  std::uint32_t module;  // 0xFFFFFFFF: unknown
  std::uint64_t offset;  // in the module's own addresses (address - base)
};

// Datatypes used at a call site consist of short runs of contiguous memory. The least counts. Strings: none.
struct ShortRunsDefinition {
  std::uint32_t call_site;
  std::uint32_t run_bytes;  // mean length of a run
};

enum class CommunicatorKind : std::uint32_t { kIntra = 0, kInter = 1 };

// `comm` is the communicator's number in this process. (group_hash, instance) is equal in all its members: group_hash
// is over the members' ranks in the program's world, in order; instance counts the communicators of that group in the
// order of creation. The members are a list of ranges (start, count, stride) of ranks in the program's world: `ranges`
// of the own group, then `remote_ranges` of the remote group (0 for an intracommunicator). Ranks outside the program's
// world (spawned, connected) appear as {kNoPeer, count, 0}. A definition carries the part [first_range, first_range +
// range_count) of that list, so a large irregular group may take several definitions. Only rank 0 of a group sends any
// part when there are more than kRangesSentByAll (the others have range_count 0). A communicator may be defined again
// when its name changes: the definition with a name counts. Strings after the ranges: name.
inline constexpr std::uint32_t kRangesSentByAll = 64;
struct CommunicatorDefinition {
  std::uint32_t comm;
  CommunicatorKind kind;
  std::uint64_t group_hash;
  std::uint32_t instance;
  std::uint32_t size;
  std::uint32_t rank;
  std::uint32_t remote_size;
  std::uint32_t ranges;         // of the own group, in all
  std::uint32_t remote_ranges;  // of the remote group, in all
  std::uint32_t first_range;    // the part of the list that follows here
  std::uint32_t range_count;
};
struct RankRange {
  std::int32_t start;
  std::uint32_t count;
  std::int32_t stride;  // of a single rank 0, of several never 0
};

// A Cartesian topology of a communicator; `dimensions` times TopologyDimension follow. Strings: none.
struct TopologyDefinition {
  std::uint32_t comm;
  std::uint32_t dimensions;
};
struct TopologyDimension {
  std::uint32_t extent;
  std::uint32_t periodic;  // 0 or 1
};

// Strings: path.
struct FileDefinition {
  std::uint32_t file;  // 1, 2, … in this process; files of MPI-IO and POSIX share the numbers
  std::uint32_t reserved;
};

// The access pattern of the process in a file; sent once, at the end, for files with several accesses. Strings: none.
struct FileAccessDefinition {
  std::uint32_t file;
  std::uint32_t reserved;
  // Each access but the first is compared with the end of the previous one in the file.
  std::uint64_t consecutive;  // at that end
  std::uint64_t forward;      // further on
  std::uint64_t strided;      // further on by the same distance as last time
  std::uint64_t backward;
  // By size: up to 100 B, 1 KiB, 10 KiB, 100 KiB, 1 MiB, 4 MiB, 10 MiB, 100 MiB, 1 GiB, more (Darshan's classes).
  std::uint64_t reads[10];
  std::uint64_t writes[10];
};

// A thread's number. A thread that begins soon after another one ended takes over its number, without a new definition.
struct ThreadDefinition {
  std::uint32_t thread;
  std::uint32_t tid;  // of the first thread with the number
  std::uint64_t first_tick;
};

// A name that the program gave to its marks (MarkExtension). Strings: the name, cut at kMaxMarkName bytes.
inline constexpr std::size_t kMaxMarkName = 255;
struct MarkNameDefinition {
  std::uint32_t name;  // mark_name_id() (mark_name.hpp)
  std::uint32_t reserved;
};

// An MPI datatype, if arguments of calls are recorded. Strings: its construction, in words from which it can be rebuilt
// (docs/reference/event_format.md).
struct DatatypeDefinition {
  std::uint32_t datatype;  // 1, 2, … in this process
  std::uint32_t reserved;
  std::int64_t size, lower_bound, extent;  // bytes
};

// A fact about the measurement that the user should know. Strings: the sentence.
struct NoticeDefinition {
  std::uint32_t severity;  // 0 note, 1 warning: numbers are incomplete
  std::uint32_t reserved;
};

// Reasons for a change of the sampling rate.
enum class SamplingCause : std::uint32_t {
  kStart = 0,
  kMemory = 1,  // no bin was free
  kStream = 2,  // no bin was free, and most were on their way to the analyzer
  kCost = 3,    // sampling took more than its share of the thread's time
  kRise = 4,    // the pressure is over
  kUser = 5,
  kEvent = 6,  // the sampled event came too fast or too slowly
};
inline constexpr std::uint32_t kSamplingCauses = 7;

// A thread's rate of sampling from `tick` on. Strings: none.
struct SamplingDefinition {
  std::uint32_t thread;
  SamplingCause cause;
  std::uint64_t tick;
  double hertz;                // samples kept per second; 0 for a sampled event, see `period`
  std::uint64_t period;        // occurrences of the sampled event for each sample; 0 when sampling by time
  std::uint32_t lowest_level;  // the lowest level that is kept: the base rate is divided by 2^lowest_level
  std::uint32_t free_bins;     // of the process, at that moment
  std::uint32_t bins;          // of the process, in all
  std::uint32_t reserved;
  std::uint64_t sample_cost_ticks;  // mean cost of one sample so far; 0: not known
};

// The sampled quantity and the counters that are read with every sample; once for each process. Strings: the sampled
// event, then the names of the counters in the order of their values.
enum class SampleUnit : std::uint32_t { kWallNanoseconds = 0, kCpuNanoseconds = 1, kEvents = 2 };
struct CountersDefinition {
  std::uint32_t counters;  // at most kMaxCounters
  SampleUnit unit;         // of SampleRecord::weight
};

// Totals of a thread's sampler; cumulative, the one with the greatest `thread_ticks` counts. Strings: none.
struct SamplerTotalsDefinition {
  std::uint32_t thread;
  std::uint32_t reserved;
  std::uint64_t taken;      // samples that the sampler started
  std::uint64_t stored;     // those of them that went into the buffer
  std::uint64_t discarded;  // those of them that were discarded: their level was closed or no bin was free
  std::uint64_t partial;    // unwinding ended early
  std::uint64_t lost;       // hit the tool itself, or a place where no sample can be taken
  // Wall time that sampling took from the thread, including an estimate for the interrupts themselves.
  std::uint64_t cost_ticks;
  std::uint64_t thread_ticks;  // age of the thread since its sampling began, wall time
};

// The kernel's counts for the process between the end of MPI_Init and MPI_Finalize; the last one counts. Strings: none.
struct UsageDefinition {
  std::uint64_t cpu_ns;             // CPU time of the thread that called MPI_Init
  std::uint64_t waiting_ns;         // time in which that thread was ready to run and waited for a processor
  std::uint64_t process_cpu_ns;     // CPU time of all threads
  std::uint64_t peak_memory_bytes;  // greatest resident set of the process, from its start on
  // From the affinity of the thread that called MPI_Init if no other one works, else of all together; 0: not known.
  std::uint32_t processors;       // processors that they may use
  std::uint32_t first_processor;  // the lowest of them
  std::uint32_t host_processors;  // online
  // Looks from outside that found that thread asleep or blocked: outside of MPI and I/O calls, and in them. Their ratio
  // is that of the times.
  std::uint32_t asleep_outside, asleep_in_mpi, asleep_in_io;
  std::uint64_t children_cpu_ns;  // CPU time of processes that it started and waited for
  // Looks outside of calls by reason (machine/thread_watch.hpp): another thread, a pause, another program, a file lock.
  std::uint32_t asleep_for_thread, asleep_for_time, asleep_for_program, asleep_for_file_lock;
  // The call sites of the stack with which most looks outside of calls found that thread asleep, innermost first, and
  // the number of these looks; 0: not known.
  std::array<std::uint32_t, 4> sleep_sites;
  std::uint32_t sleep_site_looks, reserved;
};

// The memory of the process over time. `points` times MemoryPoint follow in order of time. Strings: none.
struct MemoryDefinition {
  std::uint32_t points;
  std::uint32_t reserved;
  // In bytes, 0: not known, at MPI_Init.
  std::uint64_t host;       // total of the host
  std::uint64_t available;  // of the total, available to programs
  std::uint64_t limit;      // of the process's control group, if it is below the total
};
struct MemoryPoint {
  std::uint32_t milliseconds;  // since the end of MPI_Init
  std::uint32_t kibibytes;     // greatest resident set so far
};

// The end of a process that did not reach MPI_Finalize; its survivor sends it. Strings: none.
enum class EndCause : std::uint32_t {
  kUnknown = 0,    // the process noted nothing: see wait_status
  kSignal = 1,     // `signal`, caught or about to end the process
  kExit = 2,       // exit(status), or main returned
  kImmediate = 3,  // _exit(status)
  kExec = 4,       // exec(): another program replaced this one
};
inline constexpr std::uint32_t kEndCauses = 5;
inline constexpr std::uint32_t kNoThread = 0xFFFFFFFF;
struct EndDefinition {
  EndCause cause;
  std::uint32_t thread;    // the thread that caused the end; kNoThread: not known
  std::uint64_t tick;      // time of the cause; 0: not known
  std::uint64_t end_tick;  // time at which the end was seen
  std::uint64_t address;   // of a fault: the address that could not be accessed or executed
  std::int32_t signal;
  std::int32_t signal_code;  // si_code
  std::int32_t sender;       // process that sent the signal; 0: none
  std::int32_t status;       // of the exit
  std::int32_t wait_status;  // as waitpid(2) gives it; -1: not known
  std::uint32_t program;     // kExec: FileId of the new program; 0: not known
};

// The last calls of a thread: `calls` times RecentCall, in the order of their begin; then, if the thread is in a call,
// the parts for which that call waits. Strings: none.
struct RecentCallsDefinition {
  std::uint32_t thread;
  std::uint32_t calls;
  std::uint64_t tick;  // time of this state
};
enum RecentCallFlags : std::uint32_t {
  kPosixCallFlag = 1,  // `word` has a PosixFunction for its function, `peer` is a file
  kOpenCall = 2,       // an open call: `ticks` so far
  // Part of the open call before it: the operation of a request, or the receiving half of MPI_Sendrecv.
  kPendingPart = 4,
  kMayBeDone = 8,      // a part, or an open call with parts, that may already be complete
  kPartsMissing = 16,  // an open call that waits for more parts than follow
};
struct RecentCall {
  std::uint64_t begin;  // tick
  std::uint64_t ticks;
  std::uint64_t bytes;  // by the shape
  std::uint32_t word;   // make_word()
  std::uint32_t call_site;
  std::int32_t peer, tag;
  std::uint32_t flags;
  std::uint32_t collective;  // 1 + its number on its communicator (CollectivesDefinition); 0: none, or not known
};
static_assert(sizeof(RecentCall) == 48);

// The call stack of a thread: `frames` times StackFrame, the innermost first. Strings: none.
enum class StackOf : std::uint32_t {
  kOpenCall = 0,  // of the call that the thread is in
  kEnd = 1,       // at the cause of the end of the process
  kSample = 2,    // of the last sample outside calls, since the last MPI call
};
inline constexpr std::uint32_t kStackKinds = 3;
struct StackDefinition {
  std::uint32_t thread;  // kNoThread: a thread that records nothing
  StackOf of;
  std::uint32_t frames;
  std::uint32_t reserved;
};
struct StackFrame {
  std::uint32_t module;          // as in ContextRecord
  std::uint32_t is_instruction;  // 1: the offset is of an instruction, otherwise of a return address
  std::uint64_t offset;
};

// A living process that makes no progress (process_states.hpp). It has a file of its own. Strings: none.
enum ProcessStateFlags : std::uint32_t {
  kInFinalize = 1,           // it has called MPI_Finalize
  kStopped = 2,              // by a signal or a debugger
  kSleeps = 4,               // the first thread was asleep or blocked when it was checked
  kFreeThreads = 8,          // threads that may call MPI are in no MPI call (MPI_THREAD_MULTIPLE)
  kCollectivesMissing = 16,  // the file lacks collectives of some communicators, or their numbers are uncertain
};
struct ProcessStateDefinition {
  std::uint64_t tick;        // time of this state
  std::uint64_t since_tick;  // time of the last progress
  std::uint64_t cpu_ns;      // CPU time of its threads in the last wall_ns; both 0: not known yet
  std::uint64_t wall_ns;
  std::uint32_t flags;
  std::uint32_t reserved;
};

// The collectives that a living process has started on a communicator, including creations of communicators from it and
// non-blocking ones. They are numbered 0, 1, 2 … in the order of the calls, which is the same in all its ranks.
// Collectives of an open call are not counted yet. Strings: none.
struct CollectivesDefinition {
  static constexpr std::uint32_t kLast = 8;
  std::uint32_t comm;
  std::uint32_t begun;
  std::uint32_t last[kLast];  // collective_word() of number n at n % kLast, for the last kLast
};
// Function and root. A root that exceeds the field is cut, in all ranks alike.
inline constexpr std::uint32_t kRootBits = 32 - kFunctionBits;
constexpr std::uint32_t collective_word(std::uint32_t function, std::int32_t root) {
  return function << kRootBits | (static_cast<std::uint32_t>(root) & ((1u << kRootBits) - 1));
}
constexpr std::uint32_t function_of_collective(std::uint32_t word) { return word >> kRootBits; }
constexpr std::uint32_t root_of_collective(std::uint32_t word) { return word & ((1u << kRootBits) - 1); }

}  // namespace ardoise::instrument
