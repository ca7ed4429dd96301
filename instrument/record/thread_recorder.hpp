// What one thread records into: its current bins, its exact totals, its caches. The hot path of every event ends here:
//
//   begin, end ──▶ mpi_room(n) ──▶ the caller writes n records in place ──▶ count()
//
// Owned by its thread between adopt and retire (ThreadRegistry), while that is inside (machine/activity.hpp); other
// threads read only the totals, and the rest when recording is switched off and the thread is not inside.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "instrument/buffer/bin_pool.hpp"
#include "instrument/buffer/ledger.hpp"
#include "instrument/buffer/sample_store.hpp"
#include "instrument/format/event_format.hpp"
#include "instrument/format/posix_functions.hpp"
#include "instrument/machine/activity.hpp"
#include "instrument/machine/clock.hpp"
#include "instrument/record/call_sums.hpp"
#include "instrument/record/event_reduction.hpp"
#include "instrument/record/id_cache.hpp"
#include "instrument/record/query_counts.hpp"
#include "instrument/record/recent_calls.hpp"
#include "instrument/record/recording_cost.hpp"
#include "instrument/transport/sender.hpp"

namespace ardoise::instrument {

// Sums for one function. Written by the owning thread only, hence load + store instead of an atomic addition; relaxed,
// since each number stands alone.
struct FunctionTotals {
  using Counter = std::atomic<std::uint64_t>;
  Counter calls{}, ticks{}, bytes_sent{}, bytes_received{}, bytes{};

  static void add(Counter& counter, std::uint64_t value) {
    counter.store(counter.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }
};

struct ObservedFrame;
struct ObservedPosix;
class CallingContexts;

// The last sample of a thread that was in no call of MPI or I/O. Written by its handler, read by who looks from beside;
// relaxed: for once it may be of two samples.
struct LastSample {
  std::atomic<std::uint64_t> tick = 0;
  std::atomic<std::uint32_t> context = 0, pc_offset = 0;
};

// Not thread safe, but for mpi_totals() and posix_totals(), which anybody may read.
// Aligned: with its members eight bytes off a recorded call took twice as long.
class alignas(64) ThreadRecorder {
 public:
  static constexpr std::size_t kMpiFunctions = std::size_t{1} << kFunctionBits;
  static constexpr std::size_t kMaxGroup = 4;  // records that mpi_room() may be asked for at once

  ThreadRecorder(BinPool& pool, Sender& sender, Ledger& ledger, EventReduction& reduction, std::uint32_t number);

  // Room for `count` records in a row (1 … kMaxGroup), always: where no bin is to be had they become aggregates later
  // (event_reduction.hpp). The caller fills all of it before the next call. begin, end: ticks of the call it is for.
  [[nodiscard]] MpiRecord* mpi_room(std::size_t count, std::uint64_t begin, std::uint64_t end) {
    if (static_cast<std::size_t>(mpi_.limit - mpi_.cursor) < count) [[unlikely]]
      next_bin(mpi_, begin);
    mpi_.last_end = end;
    MpiRecord* const room = mpi_.cursor;
    mpi_.cursor += count;
    return room;
  }
  [[nodiscard]] PosixRecord* posix_room(std::uint64_t begin, std::uint64_t end) {
    if (posix_.cursor == posix_.limit) [[unlikely]]
      next_bin(posix_, begin);
    posix_.last_end = end;
    posix_.whole = posix_.cursor;
    return posix_.cursor++;
  }
  // What the program says of itself, which is no call of MPI: such a thread need not be one that makes any.
  void add_mark(const MarkExtension& mark);
  // Where the call comes from whose record is to follow; `end` is the call's. Async-signal-safe.
  void add_context(const ContextExtension& context, std::uint64_t end) noexcept;
  // The call has no record: that goes again, unless it has left the bin.
  void drop_context() noexcept;
  [[nodiscard]] FunctionTotals& mpi_totals(std::uint32_t function) { return mpi_totals_[function]; }
  [[nodiscard]] FunctionTotals& posix_totals(PosixFunction function) {
    return posix_totals_[static_cast<std::size_t>(function)];
  }

  // A call is recorded from here on; where the thread dies before the end, it is as if it had not been.
  void begin_call() { mpi_.whole = mpi_.cursor; }

  // What the thread's own signal handler sampled outside of MPI calls: is told with the MPI records. The handler has
  // interrupted the program, not this library. Async-signal-safe.
  void note_sample(const SampleRecord& sample, std::uint64_t weight) noexcept;

  // End of its last MPI call; 0: none. Anybody may look.
  [[nodiscard]] std::uint64_t last_mpi_end() const { return mpi_.last_end; }

  // Submits the partly filled bins of events: when they are old, when the thread ends, when recording ends.
  void flush();
  // The samples of the thread; its handler stores, the Sender fetches (through ThreadRegistry).
  SampleStore samples;

  [[nodiscard]] std::uint32_t number() const { return number_; }
  // The owner has ended; another thread may go on with what it has left.
  void rest() {
    may_send = false;
    between_idups = false;
  }
  // The thread has died, maybe in here: what it had begun to record goes.
  void force_unlock();
  // Then: its last calls.
  void recent(RecentCalls& mpi, RecentCalls& posix) const;
  // For another thread that takes over this object, whose last owner has ended and flushed.
  void restart(std::uint32_t number);

  ThreadActivity activity = Activity::kProgram;
  bool may_send = false;  // the thread may call MPI at this moment; set by the entry points
  // The last MPI call was MPI_Comm_idup. Open MPI 4.1 mixes up overlapping ones, and hangs, when a process makes
  // progress on the first before it has called the next, and sending makes progress.
  bool between_idups = false;
  std::uint32_t handle_generation = 0;                 // HandleIds::generation() that `handles` belongs to
  std::uint32_t until_timed = RecordingCost::kPeriod;  // calls
  // Tick at which the bins are old; kAtOnce from who wants something of the thread at its next call. Relaxed: if that
  // is overwritten, it is done when they are old.
  std::atomic<std::uint64_t> next_flush = 0;
  static constexpr std::uint64_t kAtOnce = 1;
  ThreadRecorder* next = nullptr;  // of ThreadRegistry
  // Of the call that is being recorded, its completions and the queries that are told with it included.
  CallSums call_sums;
  QueryCounts queries;

  // Since `begin` the thread did what is done rarely: that is counted, and this call is none to be timed.
  void count_sending(std::uint64_t begin) {
    ledger_.count_sending(now() - begin);
    until_timed = RecordingCost::kPeriod + 1;
  }

 private:
  template <class Record>
  struct Lane {  // a bin while it is written; all null: none
    Record* cursor = nullptr;
    Record* limit = nullptr;
    std::uint64_t first_begin = 0, last_end = 0;
    Record* whole = nullptr;  // the records of calls before the one that is being recorded end here
    Bin* bin = nullptr;
    Bin* scratch = nullptr;
    std::uint64_t closed = 0;   // bins that were submitted
    std::uint32_t sampled = 0;  // records in the bin that are no calls'
    bool folded = false;        // since the last one, records became sums
    bool is_reduced = false;    // at this moment
    bool counted = false;       // the owner, among the threads that make MPI calls; until then `limit` is `cursor`
  };
  Lane<MpiRecord> mpi_;
  Lane<PosixRecord> posix_;
  SampledExtension noted_{};  // what found no room yet; weight 0: nothing

 public:
  IdCache<64> handles;       // communicator, window or file handle → its id + 1
  IdCache<1024> call_sites;  // return address → CallSiteId

 private:
  template <class Record>
  void next_bin(Lane<Record>& lane, std::uint64_t begin);
  [[nodiscard]] bool counts_now(Lane<MpiRecord>& lane);
  template <class Record>
  [[nodiscard]] Record* end_of_bin(const Lane<Record>& lane) const;
  template <class Record>
  void find_bin(Lane<Record>& lane, std::uint64_t begin);
  template <class Record>
  [[nodiscard]] std::uint32_t open_before(const Lane<Record>& lane, std::uint64_t tick) const;
  template <class Record>
  void close_bin(Lane<Record>& lane);
  template <class Record, class Fold>
  void fold(Lane<Record>& lane, Fold&& fold);
  template <class Record>
  void remove_sampled(Lane<Record>& lane);
  template <class Record>
  void reduce(Lane<Record>& lane);
  template <class Record>
  void reduce_chosen(Lane<Record>& lane);
  template <class Record>
  void reduce_all(Lane<Record>& lane);
  template <class Record>
  void note_recent(const Lane<Record>& lane);
  template <class Record>
  void cut_torn(Lane<Record>& lane, bool is_torn);
  template <class Record>
  void begin_bin(Lane<Record>& lane, Bin* bin, std::uint64_t begin);
  [[nodiscard]] bool is_scratch(const Bin* bin) const;
  void place_noted() noexcept;
  void add_beside(const MpiRecord& record, std::uint64_t begin, std::uint64_t end);

  Sender& sender_;
  Ledger& ledger_;
  EventReduction& reduction_;
  std::uint32_t number_;
  std::array<FunctionTotals, kMpiFunctions> mpi_totals_{};
  std::array<FunctionTotals, kPosixFunctionCount> posix_totals_{};
  // Where records go that will be aggregates for want of a bin: small, so that a real bin is soon asked for again. One
  // for each lane.
  static constexpr std::size_t kScratchRecords = 64;
  struct alignas(8) Scratch {
    std::array<std::byte, sizeof(PackHeader) + kScratchRecords * sizeof(MpiRecord)> bytes;
  };
  std::array<Scratch, 2> scratch_{};
  RecentCalls recent_mpi_, recent_posix_;  // of bins that are gone

 public:
  // The calls that the owner is in, in its thread-local memory; nullptr: it has ended.
  std::atomic<const ObservedFrame*> in_mpi = nullptr;
  std::atomic<const ObservedPosix*> in_posix = nullptr;
  std::atomic<const CallingContexts*> contexts = nullptr;  // of its samples; nullptr: not sampled
  LastSample last_sample;
};

// From its begin to its end a call that has ended is recorded; one in kPeriod is timed.
class CostTimer {
 public:
  CostTimer(ThreadRecorder& thread, RecordingCost& cost) noexcept : thread_(thread), cost_(cost) {
    if (--thread.until_timed == 0) [[unlikely]]
      begin();
  }
  ~CostTimer() {
    // Not the next one but this one.
    if (begin_ != 0 && thread_.until_timed == RecordingCost::kPeriod) [[unlikely]]
      cost_.add(now_in_order() - begin_);
  }
  CostTimer(const CostTimer&) = delete;
  CostTimer& operator=(const CostTimer&) = delete;

 private:
  void begin() noexcept {
    thread_.until_timed = RecordingCost::kPeriod;
    begin_ = now_in_order();
  }
  ThreadRecorder& thread_;
  RecordingCost& cost_;
  std::uint64_t begin_ = 0;
};

}  // namespace ardoise::instrument
