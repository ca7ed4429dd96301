// Definitions: what the numbers in records mean. Sent once, in kDefinitions packs, before the first record that uses
// them leaves the process; a reader may meet them in any order (workers run concurrently) and resolves at the end.
//
//   DefinitionHeader {kind, flags, bytes} | bytes of payload | zeros up to a multiple of 8
//
// A payload is one of the structures below followed by its strings: each string is a uint32 length and its bytes, no
// terminator, UTF-8 where the program's own strings are. definition_reader.hpp checks and decodes,
// definition_writer.hpp encodes; nothing else touches these bytes.
#pragma once

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
  kStand = 20,
  kMarkName = 21,
  kDatatype = 22,
  kCollectives = 23,
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

// Sent at the start and again, with the better rate, at the end; the one with the greater `tick` counts.
// Strings: name of the clock ("tsc", "CLOCK_MONOTONIC"), an id of the node (boot id): equal ids share one clock.
struct ClockDefinition {
  std::uint64_t tick;         // a moment …
  std::uint64_t realtime_ns;  // … and its CLOCK_REALTIME in ns since 1970
  double ticks_per_second;
  double offset_seconds;        // to be added to this clock to get that of universe rank 0
  double offset_error_seconds;  // bound of the error of the offset
  std::uint64_t end_tick;       // enter of MPI_Finalize; 0: not finalized yet
  double record_cost_ticks;     // of one recorded call, on the average of those that were timed; without sending
};

// A loaded object. Strings: path, build id in hex (may be empty).
struct ModuleDefinition {
  std::uint32_t module;  // number in this process
  std::uint32_t reserved;
  std::uint64_t base;  // load bias
  std::uint64_t size;
};

// In place of a module's number: `offset` is a place in a Python function, code << 32 | byte of the instruction.
inline constexpr std::uint32_t kPythonModule = 0xFFFFFFFE;

// A function of a Python program. Code 1, what imports modules, is never defined; 0 stands for those that memory had no
// room for. Strings: name, file, its line table as CPython of that version has it (cut at kMaxStringBytes).
// With minor version 0 it is a function that a trace names (knowledge_sources/otf2/packs), not one of Python, without a
// table: the byte of the instruction is the line, 0: not known.
struct PythonCodeDefinition {
  std::uint32_t code;   // number in this process
  std::uint32_t minor;  // version of CPython: 3.minor
  std::uint32_t first_line;
  std::uint32_t reserved;
};

// CallSiteId is a 32-bit hash of (module file name, build id, offset): equal in every process of a program.
// `offset` is that of the return address; subtract 1 to look up the call. Strings: none.
struct CallSiteDefinition {
  std::uint32_t call_site;
  std::uint32_t module;  // 0xFFFFFFFF: unknown
  std::uint64_t offset;  // in the module's own addresses (address - base)
};

enum class CommunicatorKind : std::uint32_t { kIntra = 0, kInter = 1 };

// `comm` numbers it in this process. (group_hash, instance) is equal in all its members: group_hash is over the
// members' ranks in the program's world, in order; instance counts the communicators of that group in the order of
// creation. The members are a list of ranges (start, count, stride) of ranks in the program's world: `ranges` of the
// own group, then `remote_ranges` of the remote group (0 for an intracommunicator). Ranks outside the program's world
// (spawned, connected) appear as {kNoPeer, count, 0}. A definition carries the part [first_range, first_range +
// range_count) of that list, so that a large irregular group may come in several definitions; only rank 0 of a group
// sends any part when there are more than kRangesSentByAll (the others have range_count 0). A communicator may be
// defined again when its name changes: the definition with a name counts. Strings after the ranges: name.
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
  std::int32_t stride;  // of a rank alone: 0, of several not
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

// How the process accessed a file; once, at the end, for files with several accesses. Strings: none.
struct FileAccessDefinition {
  std::uint32_t file;
  std::uint32_t reserved;
  // Accesses against the end of the one before in the file; the first of a file is none of these.
  std::uint64_t consecutive;  // there
  std::uint64_t forward;      // further on
  std::uint64_t strided;      // further on by the same distance as last time
  std::uint64_t backward;
  // By size: up to 100 B, 1 KiB, 10 KiB, 100 KiB, 1 MiB, 4 MiB, 10 MiB, 100 MiB, 1 GiB, more (Darshan's classes).
  std::uint64_t reads[10];
  std::uint64_t writes[10];
};

// A thread's number. Threads that begin soon after another one has ended go on under its number, undefined anew.
struct ThreadDefinition {
  std::uint32_t thread;
  std::uint32_t tid;  // of the first
  std::uint64_t first_tick;
};

// A name that the program gave to its marks (MarkExtension). Strings: the name, cut at kMaxMarkName bytes.
inline constexpr std::size_t kMaxMarkName = 255;
struct MarkNameDefinition {
  std::uint32_t name;  // mark_name_id() (mark_name.hpp)
  std::uint32_t reserved;
};

// A datatype of MPI, where arguments of calls are recorded. Strings: what it is, in words from which it can be made
// again (docs/reference/event_format.md).
struct DatatypeDefinition {
  std::uint32_t datatype;  // 1, 2, … in this process
  std::uint32_t reserved;
  std::int64_t size, lower_bound, extent;  // bytes
};

// Something the user should know about the measurement. Strings: the sentence.
struct NoticeDefinition {
  std::uint32_t severity;  // 0 note, 1 warning: numbers are incomplete
  std::uint32_t reserved;
};

// Why the rate of sampling changed.
enum class SamplingCause : std::uint32_t {
  kStart = 0,
  kMemory = 1,  // no bin was free
  kStream = 2,  // no bin was free, and most were on their way to the analyzer
  kCost = 3,    // sampling took more than its share of the thread's time
  kRise = 4,    // the pressure has ended
  kUser = 5,
  kEvent = 6,  // the sampled event came too fast or too slowly
};
inline constexpr std::uint32_t kSamplingCauses = 7;

// A thread's rate of sampling from `tick` on. Strings: none.
struct SamplingDefinition {
  std::uint32_t thread;
  SamplingCause cause;
  std::uint64_t tick;
  double hertz;                // samples kept per second; of a sampled event: 0, see `period`
  std::uint64_t period;        // occurrences of the sampled event for each sample; 0 when sampling by time
  std::uint32_t lowest_level;  // that is kept: the base rate is divided by 2^lowest_level
  std::uint32_t free_bins;     // of the process, at that moment
  std::uint32_t bins;          // of the process, in all
  std::uint32_t reserved;
  std::uint64_t sample_cost_ticks;  // mean cost of one sample so far; 0: not known
};

// What is sampled and what is read with every sample; once for each process. Strings: the sampled event, then the names
// of the counters in the order of their values.
enum class SampleUnit : std::uint32_t { kWallNanoseconds = 0, kCpuNanoseconds = 1, kEvents = 2 };
struct CountersDefinition {
  std::uint32_t counters;  // at most kMaxCounters
  SampleUnit unit;         // of SampleRecord::weight
};

// What a thread's sampler did; cumulative, the one with the greatest `thread_ticks` counts. Strings: none.
struct SamplerTotalsDefinition {
  std::uint32_t thread;
  std::uint32_t reserved;
  std::uint64_t taken;         // samples that the sampler began
  std::uint64_t stored;        // of those, in the buffer at first
  std::uint64_t discarded;     // of those, not stored because their level was closed or no bin was free
  std::uint64_t partial;       // unwinding ended early
  std::uint64_t lost;          // landed inside the tool, or where no sample can be taken
  std::uint64_t cost_ticks;    // wall time that sampling took from the thread: in the handler, and an estimate of what
                               // the machine takes to interrupt it
  std::uint64_t thread_ticks;  // age of the thread since its sampling began, wall time
};

// What the kernel counted for the process between the end of MPI_Init and MPI_Finalize; of several, the last counts.
// Strings: none.
struct UsageDefinition {
  std::uint64_t cpu_ns;             // CPU time of the thread that called MPI_Init
  std::uint64_t waiting_ns;         // in which that thread was ready to run and waited for a processor
  std::uint64_t process_cpu_ns;     // CPU time of all threads
  std::uint64_t peak_memory_bytes;  // greatest resident set of the process, from its start on
  // By the affinity of all threads together: 0: not known.
  std::uint32_t processors;       // that they may use
  std::uint32_t first_processor;  // the lowest of these
  std::uint32_t host_processors;  // online
  std::uint32_t reserved;
};

// The memory of the process over time; `points` times MemoryPoint follow, the latest last. Strings: none.
struct MemoryDefinition {
  std::uint32_t points;
  std::uint32_t reserved;
  // In bytes, 0: not known. At MPI_Init.
  std::uint64_t host;       // that it has
  std::uint64_t available;  // of it, for programs
  std::uint64_t limit;      // of the process's control group, where it is less than the host has
};
struct MemoryPoint {
  std::uint32_t milliseconds;  // since the end of MPI_Init
  std::uint32_t kibibytes;     // greatest resident set so far
};

// How a process ended that did not come to MPI_Finalize; told for it by its survivor. Strings: none.
enum class EndCause : std::uint32_t {
  kUnknown = 0,    // it left no word: see wait_status
  kSignal = 1,     // `signal`, which it caught or which was about to end it
  kExit = 2,       // exit(status), or main returned
  kImmediate = 3,  // _exit(status)
  kExec = 4,       // another program took the process over
};
inline constexpr std::uint32_t kEndCauses = 5;
inline constexpr std::uint32_t kNoThread = 0xFFFFFFFF;
struct EndDefinition {
  EndCause cause;
  std::uint32_t thread;    // that brought it about; kNoThread: not known
  std::uint64_t tick;      // when it was brought about; 0: not known
  std::uint64_t end_tick;  // when it was seen to have ended
  std::uint64_t address;   // of a fault: what could not be accessed or executed
  std::int32_t signal;
  std::int32_t signal_code;  // si_code
  std::int32_t sender;       // process that sent the signal; 0: none
  std::int32_t status;       // of the exit
  std::int32_t wait_status;  // as waitpid(2) gives it; -1: not known
  std::uint32_t program;     // kExec: FileId of what took over; 0: not known
};

// The last calls of a thread, `calls` times RecentCall, in the order of their begin; then, where the thread is in a
// call, what that waits for. Strings: none.
struct RecentCallsDefinition {
  std::uint32_t thread;
  std::uint32_t calls;
  std::uint64_t tick;  // when this was so
};
enum RecentCallFlags : std::uint32_t {
  kPosixCallFlag = 1,  // `word` has a PosixFunction for its function, `peer` is a file
  kOpenCall = 2,       // has not ended: `ticks` so far
  kPendingPart = 4,    // of the open call before it: the operation of a request, or the receiving half of MPI_Sendrecv
  kMayBeDone = 8,      // a part, or an open call with parts: it may be complete, for all that is known
  kPartsMissing = 16,  // an open call: it waits for more than follows
};
struct RecentCall {
  std::uint64_t begin;  // tick
  std::uint64_t ticks;
  std::uint64_t bytes;  // as the shape says
  std::uint32_t word;   // make_word()
  std::uint32_t call_site;
  std::int32_t peer, tag;
  std::uint32_t flags;
  std::uint32_t collective;  // 1 + its number on its communicator (CollectivesDefinition); 0: none, or not known
};
static_assert(sizeof(RecentCall) == 48);

// The call stack of a thread, `frames` times StackFrame, the innermost first. Strings: none.
enum class StackOf : std::uint32_t {
  kOpenCall = 0,  // from the call that the thread is in
  kEnd = 1,       // where the thread was when it brought about the end of the process
  kSample = 2,    // where it was sampled last, in no call, since its last call of MPI
};
inline constexpr std::uint32_t kStackKinds = 3;
struct StackDefinition {
  std::uint32_t thread;  // kNoThread: one that records nothing
  StackOf of;
  std::uint32_t frames;
  std::uint32_t reserved;
};
struct StackFrame {
  std::uint32_t module;          // as ContextRecord's
  std::uint32_t is_instruction;  // 1: the offset is of an instruction, else a return address
  std::uint64_t offset;
};

// A living process, with a file of its own (stands.hpp): where its threads are. Strings: none.
enum StandFlags : std::uint32_t {
  kInFinalize = 1,           // it has called MPI_Finalize
  kStopped = 2,              // by a signal or a debugger
  kSleeps = 4,               // at the look its first thread was asleep or blocked
  kFreeThreads = 8,          // threads that may call MPI are in no call of it (MPI_THREAD_MULTIPLE)
  kCollectivesMissing = 16,  // the file has not the collectives of all communicators, or their numbers are not sure
};
struct StandDefinition {
  std::uint64_t tick;        // when this was so
  std::uint64_t since_tick;  // its last progress
  std::uint64_t cpu_ns;      // CPU time of its threads in the last wall_ns; both 0: not known yet
  std::uint64_t wall_ns;
  std::uint32_t flags;
  std::uint32_t reserved;
};

// The collectives that a living process has begun on a communicator, the creations of communicators from it and
// non-blocking ones among them: they are numbered 0, 1, 2 … in the order of the calls, which is the same in all its
// ranks. Those of a call that has not ended are not counted yet. Strings: none.
struct CollectivesDefinition {
  static constexpr std::uint32_t kLast = 8;
  std::uint32_t comm;
  std::uint32_t begun;
  std::uint32_t last[kLast];  // collective_word() of number n at n % kLast, of the last so many
};
// Function and root. A root beyond the field is cut, in all ranks alike.
inline constexpr std::uint32_t kRootBits = 32 - kFunctionBits;
constexpr std::uint32_t collective_word(std::uint32_t function, std::int32_t root) {
  return function << kRootBits | (static_cast<std::uint32_t>(root) & ((1u << kRootBits) - 1));
}
constexpr std::uint32_t function_of_collective(std::uint32_t word) { return word >> kRootBits; }
constexpr std::uint32_t root_of_collective(std::uint32_t word) { return word & ((1u << kRootBits) - 1); }

}  // namespace ardoise::instrument
