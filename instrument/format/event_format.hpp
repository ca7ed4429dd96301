// The event format, which programs write and the analyzer reads, documented in docs/reference/event_format.md.
//
// A *pack* is one block: a PackHeader and a payload of one PackClass.
//
//   +------------+------------------------------------------------------+
//   | PackHeader | payload: records of one class, or definitions (TLV)  |
//   |  200 bytes | payload_bytes                                        |
//   +------------+------------------------------------------------------+
//
// All integers are little endian, the structures have no padding, and 8-byte fields are 8-byte aligned in memory when
// the pack is. A reader calls check_pack() (pack_reader.hpp) before it trusts any field of a pack from outside. Times
// are *ticks* of the process's clock; the kClock definition of the process converts them to seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ardoise::instrument {

inline constexpr std::uint32_t kPackMagic = 0x50445241;  // "ARDP"
inline constexpr std::uint16_t kPackVersion = 12;

enum class PackClass : std::uint16_t {
  kDefinitions = 1,    // payload: DefinitionHeader + bytes, each padded to 8 (definitions.hpp)
  kMpi = 2,            // payload: MpiRecord[]
  kPosix = 3,          // payload: PosixRecord[]
  kTotals = 4,         // payload: TotalsRecord[]; cumulative since the start, the one with the highest sequence counts
  kSamples = 5,        // payload: record_count × (SampleRecord, counter_count × uint64)
  kContexts = 6,       // payload: ContextRecord[]
  kContextTotals = 7,  // payload: ContextTotalsRecord[]; increments since the thread's previous one
  kAggregates = 8,     // payload: AggregateRecord[]; sums of MPI and POSIX records that did not fit into memory
};
inline constexpr std::size_t kPackClassCount = 9;

// Counts of the records of one class in one process since its start. The ledger in the last pack of a process (flag
// kLastPack) is final: recorded == sum of counted_records() over its packs of that class + dropped + aggregated. For
// samples, recorded counts those that the sampler handed over; samples discarded because their level was closed count
// as dropped.
struct ClassLedger {
  std::uint64_t recorded;    // records written by the recorder
  std::uint64_t dropped;     // those never sent
  std::uint64_t aggregated;  // those folded into AggregateRecords
};
static_assert(sizeof(ClassLedger) == 24);

enum PackFlags : std::uint16_t {
  kLastPack = 1,  // the last pack of the process
  kFolded = 2,    // kMpi, kPosix: records of the thread were summed up, before this pack's records or among them
  kSeveralMpiThreads = 4,  // several threads of the process have made MPI calls so far
};

struct PackHeader {
  std::uint32_t magic;          // kPackMagic
  std::uint16_t version;        // kPackVersion
  std::uint16_t header_bytes;   // sizeof(PackHeader); a later version may be longer
  std::uint16_t pack_class;     // PackClass
  std::uint16_t flags;          // PackFlags
  std::uint32_t payload_bytes;  // bytes after the header
  std::uint32_t record_count;   // records (kDefinitions: definitions) in the payload
  std::uint32_t table_hash;     // hash of the table of MPI functions that numbers `function`
  std::uint32_t partition;      // partition id of the program in the launch
  std::uint32_t rank;           // in the partition's world; the analyzer makes it the rank in the program
  std::uint32_t thread;         // number of the recording thread in its process, 0 the first
  std::uint32_t weight;         // occurrences a record stands for: 1; kSamples: 2^level
  std::uint64_t sequence;       // 0, 1, 2 … over all packs of the process, in the order of sending
  std::uint64_t first_tick;     // begin of the first record (0: none)
  std::uint64_t last_tick;      // end of the last record
  ClassLedger mpi;              // cumulative at the time of sending
  ClassLedger posix;            // cumulative as well
  ClassLedger samples;          // cumulative as well
  std::uint64_t blocked_ticks;  // cumulative time the program waited for a free bin
  // Places the records in time without a definition. 0: not known.
  std::uint64_t origin_tick;  // time 0 of the program on this process's clock: the end of MPI_Init in its rank 0
  double ticks_per_second;    // of this process's clock, as known at the time of sending
  // kSamples only, otherwise 0.
  std::uint32_t counter_count;  // counters after each SampleRecord, at most kMaxCounters
  std::uint32_t level;          // lowest level in the epoch of the samples; weight is 2^level
  std::uint64_t sending_ticks;  // cumulative time of making room for records and sending packs, including waiting
  std::uint64_t order;  // kMpi, kPosix: 0, 1, 2 … over the packs of the class from header.thread, in order of recording
  std::uint64_t reserved;
  std::uint32_t sampled_count;  // kMpi: SampledExtensions among the records; otherwise 0
  // kMpi, kPosix: the thread has unsent records of the other of these two classes. They begin at most this many units
  // of kOpenTicks before last_tick; 0: none. It tells readers which records before this pack may still arrive.
  std::uint32_t other_open;
  static constexpr std::uint64_t kOpenTicks = 1024;

  // Records that the ledger counts.
  [[nodiscard]] constexpr std::uint32_t counted_records() const { return record_count - sampled_count; }
};
static_assert(sizeof(PackHeader) == 200);
static_assert(std::is_trivially_copyable_v<PackHeader>);

// How to read the fields of an MpiRecord, so that a reader needs no table of MPI functions for its sums.
enum class Shape : std::uint32_t {
  // No communication. Window: tag = window_tag(); file: peer = file id; prepared persistent operation: peer, tag.
  kLocal = 0,
  kSend = 1,         // peer = destination, tag, bytes = sent. Isend and the start of a persistent send too
  kReceive = 2,      // completed receive: peer = source, tag and bytes as received
  kPostReceive = 3,  // posted receive: peer = source or kAnySource, tag; bytes = capacity; a kCompletion follows later
  kCompletes = 4,    // Wait*, Test*, Request_free …: tag = number of requests completed; kCompletion records follow
  kProbe = 5,        // peer, tag, bytes as probed; kNoPeer: no message
  kCollective = 6,   // bytes = sent by this rank, `tag` = bytes received by this rank (as uint32)
  kRooted = 7,       // a collective with root in `peer`
  kNeighbour = 8,    // like kCollective; one kNeighbourPart extension per destination follows
  kPut = 9,   // one-sided: peer = target, tag = window_tag(), bytes from this rank to the target (Put, Accumulate …)
  kGet = 10,  // one-sided: the same, bytes from the target to this rank (Get, Fetch_and_op …)
  kWindow = 11,      // window synchronisation: peer = target rank or kNoPeer, tag = window_tag(); kGroup may follow
  kFileRead = 12,    // MPI-IO, `peer` = file id, bytes = read
  kFileWrite = 13,   // MPI-IO, `peer` = file id, bytes = written
  kCompletion = 14,  // a CompletionRecord
  kExtension = 15,   // an extension of the record before it; the `comm` bits hold the ExtensionKind
};

inline constexpr std::int32_t kNoPeer = -1;     // MPI_PROC_NULL, no peer at all, or the call failed
inline constexpr std::int32_t kAnySource = -2;  // MPI_ANY_SOURCE
inline constexpr std::int32_t kAnyTag = -1;     // MPI_ANY_TAG
inline constexpr std::int32_t kRootGroup = -3;  // MPI_ROOT of an intercommunicator

// The action of a call on its window, if the function's name does not tell it.
enum class WindowAct : std::uint32_t {
  kNone = 0,
  kExclusive = 1,  // MPI_Win_lock: the kind of lock
  kShared = 2,
  kEnded = 3,  // MPI_Win_test: the epoch ended
};
// The number of a window counts the windows of its communicator in order of creation and is equal in all its ranks.
// Numbers repeat after 2^14.
inline constexpr std::uint32_t kWindowBits = 14;
constexpr std::int32_t window_tag(std::uint32_t window, WindowAct act) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(act) << kWindowBits |
                                   (window & ((1u << kWindowBits) - 1)));
}
constexpr std::uint32_t window_of(std::int32_t tag) {
  return static_cast<std::uint32_t>(tag) & ((1u << kWindowBits) - 1);
}
constexpr WindowAct window_act_of(std::int32_t tag) {
  return static_cast<WindowAct>(static_cast<std::uint32_t>(tag) >> kWindowBits);
}

inline constexpr std::uint32_t kWide = 0xFFFFFFFFu;  // duration or bytes continue in a WideExtension

// comm:18 | function:10 | shape:4, from the high bit down.
inline constexpr std::uint32_t kCommBits = 18, kFunctionBits = 10, kShapeBits = 4;
inline constexpr std::uint32_t kNoComm = (1u << kCommBits) - 1;       // no communicator
inline constexpr std::uint32_t kUnnamedComm = (1u << kCommBits) - 2;  // numbers that do not fit into the field
inline constexpr std::uint32_t kWorldComm = 0;                        // the program's MPI_COMM_WORLD

constexpr std::uint32_t make_word(std::uint32_t comm, std::uint32_t function, Shape shape) {
  return comm << (kFunctionBits + kShapeBits) | function << kShapeBits | static_cast<std::uint32_t>(shape);
}

constexpr Shape shape_of(std::uint32_t word) { return static_cast<Shape>(word & ((1u << kShapeBits) - 1)); }
constexpr std::uint32_t function_of(std::uint32_t word) { return word >> kShapeBits & ((1u << kFunctionBits) - 1); }
constexpr std::uint32_t comm_of(std::uint32_t word) { return word >> (kShapeBits + kFunctionBits); }

// One MPI call.
struct MpiRecord {
  std::uint64_t begin;      // tick of enter
  std::uint32_t duration;   // ticks from enter to exit; kWide: see the WideExtension that follows
  std::uint32_t call_site;  // CallSiteId of the caller (a hash, equal in all processes of a program)
  std::int32_t peer;        // rank in `comm` (of the remote group for an intercommunicator), see Shape
  std::int32_t tag;         // see Shape
  std::uint32_t bytes;      // see Shape; kWide: see the WideExtension that follows
  std::uint32_t word;       // make_word()

  [[nodiscard]] constexpr Shape shape() const { return shape_of(word); }
  [[nodiscard]] constexpr std::uint32_t function() const { return function_of(word); }
  [[nodiscard]] constexpr std::uint32_t comm() const { return comm_of(word); }
};
static_assert(sizeof(MpiRecord) == 32 && std::is_trivially_copyable_v<MpiRecord>);

// The completion of a non-blocking or persistent operation, by the kCompletes record that precedes it.
struct CompletionRecord {
  std::uint64_t
      post_begin;  // `begin` of the record that started the operation: together with rank it is the request's id
  std::uint32_t bytes_high;  // upper half of the bytes
  std::uint32_t call_site;   // of the record that started it
  std::int32_t peer;         // actual source (kNoPeer: a send or collective, or a receive without a message)
  std::int32_t tag;          // actual tag; kAnyTag: cancelled
  std::uint32_t bytes_low;   // bytes received; 0 for a completed send
  std::uint32_t word;        // comm and function of the starting call, Shape::kCompletion
};
static_assert(sizeof(CompletionRecord) == sizeof(MpiRecord));

enum class ExtensionKind : std::uint32_t {
  kWideValues = 0,     // WideExtension
  kReceiveHalf = 1,    // ReceiveHalfExtension
  kNeighbourPart = 2,  // NeighbourExtension
  kStarted = 3,        // StartedExtension
  kSampled = 4,        // SampledExtension
  kGroup = 5,          // GroupExtension
  kMark = 6,           // MarkExtension
  kArguments = 7,      // ArgumentsExtension
  kContext = 8,        // ContextExtension
};

// Order: a record, then its kWideValues, then its kReceiveHalf, both always in the pack of the record; then its
// kNeighbourPart, kStarted or kGroup extensions or its completions, which stand alone and may continue in later packs
// of the same thread. The kArguments and the kContext of a call precede its record and may be in an earlier pack. The
// function bits of an extension are those of its record; event_reader.hpp joins a record with its extensions. kSampled
// and kMark belong to no record: they lie between two calls, with function bits 0. kContext also has function bits 0,
// since it names its call itself.

// The full values of the record before it, if one of them does not fit there.
struct WideExtension {
  std::uint64_t duration;  // ticks
  std::uint64_t bytes;     // sent (kReceive, kGet, kFileRead: received)
  std::uint64_t received;  // collectives: received
  std::uint32_t reserved;
  std::uint32_t word;
};
static_assert(sizeof(WideExtension) == sizeof(MpiRecord));

// The receiving half of MPI_Sendrecv and MPI_Sendrecv_replace; the record before it is the kSend half.
struct ReceiveHalfExtension {
  std::uint64_t bytes;
  std::int32_t source;
  std::int32_t tag;
  std::uint64_t reserved0;
  std::uint32_t reserved1;
  std::uint32_t word;
};
static_assert(sizeof(ReceiveHalfExtension) == sizeof(MpiRecord));

// The data that a neighbourhood collective sent to one destination.
struct NeighbourExtension {
  std::uint64_t bytes;
  std::int32_t destination;
  std::uint32_t comm;   // of the record, which may be in another pack
  std::uint64_t begin;  // of the record
  std::uint32_t reserved2;
  std::uint32_t word;
};
static_assert(sizeof(NeighbourExtension) == sizeof(MpiRecord));

// One operation that MPI_Startall started. MPI_Startall's own record is kLocal. (MPI_Start has a record of its own,
// kSend or kPostReceive.)
struct StartedExtension {
  std::uint64_t begin;  // the operation's id: `begin` of the record, plus the operation's place in the array
  std::uint64_t bytes;  // sent; 0 for a receive
  std::int32_t peer;
  std::int32_t tag;
  std::uint32_t operation;  // make_word(comm, function that made the request, kSend or kPostReceive …)
  std::uint32_t word;
};
static_assert(sizeof(StartedExtension) == sizeof(MpiRecord));

// Ranks of the group of the preceding MPI_Win_post or MPI_Win_start, in the window's communicator, in as many
// extensions as needed.
struct GroupExtension {
  static constexpr std::uint32_t kMost = 6;
  std::int32_t ranks[kMost];
  std::uint32_t count;  // used elements
  std::uint32_t word;
};
static_assert(sizeof(GroupExtension) == sizeof(MpiRecord));

// Samples that the thread's signal handler took between the MPI calls before and after it, in the program's own code.
// One of them, drawn at random by weight, represents all. Some may be missing for lack of memory.
struct SampledExtension {
  std::uint64_t tick;       // of the latest sample
  std::uint64_t weight;     // ns of CPU time that they stand for, without time in the kernel
  std::uint32_t context;    // of the drawn sample, as in SampleRecord
  std::uint32_t pc_offset;  // the same
  std::uint16_t function;   // the same, for POSIX calls
  std::uint8_t flags;       // the same
  std::uint8_t reserved;
  std::uint32_t word;
};
static_assert(sizeof(SampledExtension) == sizeof(MpiRecord));

enum class MarkKind : std::uint8_t { kSnapshot = 1, kPhaseBegin = 2, kPhaseEnd = 3, kValue = 4, kPcontrol = 5 };

// A mark that the program set (api/ardoise.h, MPI_Pcontrol) between two MPI calls.
struct MarkExtension {
  std::uint64_t tick;
  std::uint64_t value;      // kSnapshot, kPcontrol: the number (int64); kValue: the bits of a double; otherwise 0
  std::uint32_t name;       // mark_name_id() of a MarkNameDefinition; 0: none
  std::uint32_t call_site;  // CallSiteId of kPcontrol; otherwise 0
  MarkKind kind;
  std::uint8_t reserved[3];
  std::uint32_t word;
};
static_assert(sizeof(MarkExtension) == sizeof(MpiRecord));
inline constexpr std::uint32_t kMarkWord =
    make_word(static_cast<std::uint32_t>(ExtensionKind::kMark), 0, Shape::kExtension);

// Arguments of the next recorded call of the thread, with --arguments, in as many extensions as needed.
// argument_bytes.hpp describes the bytes.
struct ArgumentsExtension {
  static constexpr std::size_t kBytes = 20;
  std::uint8_t bytes[kBytes];
  std::uint32_t number;  // 0, 1, 2 … within the call
  std::uint32_t call;    // the lower half of the call's `begin`
  std::uint32_t word;
};
static_assert(sizeof(ArgumentsExtension) == sizeof(MpiRecord));

// The call stack of a call, with --call-stacks. The call's record is the next one of its class, MPI or POSIX, in the
// thread; without such a record the call was summed up.
struct ContextExtension {
  std::uint64_t begin;         // of the call
  std::uint32_t context;       // of ContextRecord in header.thread, for the call site
  std::uint16_t record_class;  // PackClass::kMpi or kPosix
  std::uint16_t function;      // MPI function or PosixFunction
  std::uint64_t reserved0;
  std::uint32_t reserved1;
  std::uint32_t word;
};
static_assert(sizeof(ContextExtension) == sizeof(MpiRecord));
inline constexpr std::uint32_t kContextWord =
    make_word(static_cast<std::uint32_t>(ExtensionKind::kContext), 0, Shape::kExtension);

// One POSIX I/O call of the program (not of MPI or the tool).
struct PosixRecord {
  std::uint64_t begin;      // tick of enter
  std::uint32_t duration;   // ticks, saturated at kWide; the exact sum is in the totals
  std::uint32_t call_site;  // CallSiteId
  std::uint32_t file;       // FileId, local to the process (kFile definition); 0: unknown file
  std::uint16_t function;   // PosixFunction (posix_functions.hpp)
  std::uint16_t flags;      // kPosixFailed, plus errno · 2; errno 0: not known
  std::uint64_t bytes;      // moved (0 for open, close …)
};
static_assert(sizeof(PosixRecord) == 32 && std::is_trivially_copyable_v<PosixRecord>);
inline constexpr std::uint16_t kPosixFailed = 1;

// Exact sums for one function over the whole life of the process, independent of the records.
struct TotalsRecord {
  std::uint16_t record_class;  // PackClass::kMpi or kPosix
  std::uint16_t function;
  std::uint32_t reserved;
  std::uint64_t calls;
  std::uint64_t ticks;
  std::uint64_t bytes_sent;      // POSIX: written
  std::uint64_t bytes_received;  // POSIX: read
  std::uint64_t bytes;           // sum over calls of the bytes sent, or received if the call sent nothing
};
static_assert(sizeof(TotalsRecord) == 48 && std::is_trivially_copyable_v<TotalsRecord>);

inline constexpr std::uint32_t kMaxCounters = 8;
inline constexpr std::uint32_t kMaxSampleLevel = 31;  // of SampleRecord::level and PackHeader::level

enum SampleFlags : std::uint8_t {
  kPartialUnwind = 1,     // unwinding ended before the outermost frame
  kInsideMpi = 2,         // the thread was inside an MPI call
  kInsideTool = 4,        // the thread was inside the tool
  kTruncatedContext = 8,  // the table of contexts was full: `context` is the deepest known caller
  kKernelOfCalls = 16,    // MPI or POSIX calls began or ended since the previous sample: `kernel` may be theirs
  kPosixCall = 32,        // `function` is a PosixFunction + 1
  kTimerInterrupt = 64,   // taken at a timer interrupt of the kernel while the thread shared its processor: biased
};

// One sample of a thread. It stands for (weight + kernel) × PackHeader::weight nanoseconds, or for weight ×
// PackHeader::weight occurrences of the sampled event.
struct SampleRecord {
  std::uint64_t tick;
  std::uint32_t context;   // of ContextRecord, in header.thread; 0: unknown
  std::uint32_t weight;    // ns, or occurrences of the sampled event, before PackHeader::weight
  std::uint16_t function;  // number + 1 of the interrupted MPI (kPosixCall: POSIX) call; 0: none
  std::uint8_t level;      // trailing zeros of the sample's number in the thread; at least PackHeader::level
  std::uint8_t flags;      // SampleFlags
  // Offset of the interrupted instruction in `context`, if that is a function start (ContextRecord flag 1).
  std::uint32_t pc_offset;
  std::uint32_t kernel;  // ns that the thread spent in the kernel since the previous sample, not in `weight`
  std::uint32_t reserved;
};
static_assert(sizeof(SampleRecord) == 32 && std::is_trivially_copyable_v<SampleRecord>);

// A node of a thread's calling context tree. Numbers are dense in header.thread: 1, 2, …. Each node is sent once,
// before or after its first use: readers resolve at the end.
struct ContextRecord {
  std::uint32_t context;
  std::uint32_t parent;  // 0: the root
  std::uint32_t module;  // of kModule; 0xFFFFFFFF: unknown
  std::uint32_t flags;   // 1: `offset` is the start of the interrupted function, otherwise a return address
  std::uint64_t offset;  // in the module's own addresses
};
static_assert(sizeof(ContextRecord) == 24 && std::is_trivially_copyable_v<ContextRecord>);

// Exact sums of one function in one calling context since the thread's previous record of that pair: readers add them.
struct ContextTotalsRecord {
  std::uint32_t context;       // of the call site
  std::uint16_t record_class;  // PackClass::kMpi or kPosix
  std::uint16_t function;
  std::uint64_t calls;
  std::uint64_t ticks;
  std::uint64_t bytes_sent;
  std::uint64_t bytes_received;
};
static_assert(sizeof(ContextTotalsRecord) == 40 && std::is_trivially_copyable_v<ContextTotalsRecord>);

// The kind of records that an AggregateRecord replaces.
enum class AggregatePart : std::uint8_t {
  kCall = 0,        // MpiRecords, with their kWideValues and kReceiveHalf
  kCompletion = 1,  // CompletionRecords
  kNeighbour = 2,   // NeighbourExtensions
  kStarted = 3,     // StartedExtensions
  kPosix = 4,       // PosixRecords
  kGroup = 5,       // GroupExtensions, counted only
  kMark = 6,        // MarkExtensions, counted only
  kArguments = 7,   // ArgumentsExtensions, counted only
  kContext = 8,     // ContextExtensions, counted only
};
inline constexpr std::uint8_t kAggregateParts = 9;

// Exact sums over records that did not fit into memory; they lie between the header's first and last tick. All records
// of one AggregateRecord are equal in part, word, function, call site, peer and size class. Later ones of the same key
// are further records: readers add them.
struct AggregateRecord {
  std::uint32_t word;  // kCall, kCompletion: `word` (kNeighbour: with the comm of the call); kStarted: `operation`;
                       // kPosix: `flags`; kGroup, kMark, kArguments, kContext: the extension's
  std::uint32_t call_site;  // 0 for kNeighbour, kStarted, kGroup, kMark, kArguments and kContext
  std::int32_t peer;        // peer, destination; kCompletion: the actual source; kPosix: file
  std::uint16_t function;   // of the MPI call (kCompletion: of the starting call); kPosix: PosixFunction
  AggregatePart part;
  std::uint8_t size_bits;   // bit width of each record's size (see `size`)
  std::uint64_t calls;      // number of calls, completions or parts
  std::uint64_t records;    // how many records that were, extensions counted: what the ledger calls aggregated; fewer
                            // than calls: the others are counted queries (query_counts.hpp), with estimated ticks
  std::uint64_t ticks;      // durations (kCall and kPosix)
  std::uint64_t bytes;      // by the shape
  std::uint64_t received;   // collectives and MPI_Sendrecv: received by this rank
  std::uint64_t size;       // sum over calls of the bytes sent, or received if the call sent nothing
  std::uint64_t min_ticks;  // of a single call (kCall and kPosix)
  std::uint64_t max_ticks;
};
static_assert(sizeof(AggregateRecord) == 80 && std::is_trivially_copyable_v<AggregateRecord>);

}  // namespace ardoise::instrument
