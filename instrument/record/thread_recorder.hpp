// The data into which one thread records: its current bins, exact totals and caches. The hot path of every event ends
// here:
//
//   begin, end ──▶ mpi_room(n) ──▶ the caller writes n records in place ──▶ count()
//
// Owned by its thread between adopt and retire (ThreadRegistry), while the thread is inside (machine/activity.hpp).
// Other threads read only the totals, and the rest after recording is off and the thread is outside.
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

// Sums for one function. Written by the owning thread only, hence load + store instead of an atomic addition. Relaxed,
// since no other data depends on them.
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

// The last sample of a thread outside calls of MPI or I/O. Written by its handler, read by the survivor. Relaxed: a
// reader may mix two samples once.
struct LastSample {
  std::atomic<std::uint64_t> tick = 0;
  std::atomic<std::uint32_t> context = 0, pc_offset = 0;
};

// Not thread safe, except mpi_totals() and posix_totals(), which any thread may read. Aligned: with its members eight
// bytes off, a recorded call took twice as long.
class alignas(64) ThreadRecorder {
 public:
  static constexpr std::size_t kMpiFunctions = std::size_t{1} << kFunctionBits;
  static constexpr std::size_t kMaxGroup = 4;  // most records per call of mpi_room()

  ThreadRecorder(BinPool& pool, Sender& sender, Ledger& ledger, EventReduction& reduction, std::uint32_t number);

  // Room for `count` consecutive records (1 … kMaxGroup). It never fails: without a free bin the records become
  // aggregates later (event_reduction.hpp). The caller fills all of it before the next call. begin, end: ticks of the
  // call.
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
  // A mark of the program. The thread need not make any MPI call.
  void add_mark(const MarkExtension& mark);
  // The calling context of the call with the next record; `end` is the end of the call. Async-signal-safe.
  void add_context(const ContextExtension& context, std::uint64_t end) noexcept;
  // Removes the context if the call has no record, unless the context has left the bin.
  void drop_context() noexcept;
  [[nodiscard]] FunctionTotals& mpi_totals(std::uint32_t function) { return mpi_totals_[function]; }
  [[nodiscard]] FunctionTotals& posix_totals(PosixFunction function) {
    return posix_totals_[static_cast<std::size_t>(function)];
  }

  // A call is recorded from here on. If the thread dies before the end of the record, the call is discarded.
  void begin_call() { mpi_.whole = mpi_.cursor; }

  // Adds a sample that the thread's own signal handler took outside MPI calls. It is sent with the MPI records. The
  // handler interrupted the program, not this library. Async-signal-safe.
  void note_sample(const SampleRecord& sample, std::uint64_t weight) noexcept;

  // End of the last MPI call; 0: none. Any thread may read it.
  [[nodiscard]] std::uint64_t last_mpi_end() const { return mpi_.last_end; }

  // Submits partly filled bins of events: when they are old, and at the end of the thread or of recording.
  void flush();
  // The samples of the thread; its handler stores, the Sender fetches (through ThreadRegistry).
  SampleStore samples;

  [[nodiscard]] std::uint32_t number() const { return number_; }
  // The owner ended; another thread may take over the recorder.
  void rest() {
    may_send = false;
    between_idups = false;
  }
  // Discards the record in progress: the owner has left it by a jump, and is outside from now on.
  void end_left_call();
  // For use when the thread has died, maybe inside this class: likewise.
  void force_unlock();
  // The last calls of the dead thread.
  void recent(RecentCalls& mpi, RecentCalls& posix) const;
  // Prepares the object for another thread; its previous owner ended and flushed.
  void restart(std::uint32_t number);

  ThreadActivity activity = Activity::kProgram;
  bool may_send = false;  // the thread may call MPI at this moment; set by the entry points
  // The last MPI call was MPI_Comm_idup. Open MPI 4.1 mixes up overlapping ones, and hangs, when a process makes
  // progress on the first before it has called the next, and sending makes progress.
  bool between_idups = false;
  std::uint32_t handle_generation = 0;                 // HandleIds::generation() that `handles` belongs to
  std::uint32_t until_timed = RecordingCost::kPeriod;  // calls
  // Tick at which the bins are old. kAtOnce: the thread has something to do at its next call. Relaxed: if that value is
  // overwritten, the work is done when the bins are old.
  std::atomic<std::uint64_t> next_flush = 0;
  static constexpr std::uint64_t kAtOnce = 1;
  ThreadRecorder* next = nullptr;  // of ThreadRegistry
  // Sums of the call in progress, including its completions and the queries recorded with it.
  CallSums call_sums;
  QueryCounts queries;

  // The thread did rare work since `begin`: counts its time and excludes this call from timing.
  void count_sending(std::uint64_t begin) {
    ledger_.count_sending(now() - begin);
    until_timed = RecordingCost::kPeriod + 1;
  }

 private:
  template <class Record>
  struct Lane {  // a bin that is being written; all null: none
    Record* cursor = nullptr;
    Record* limit = nullptr;
    std::uint64_t first_begin = 0, last_end = 0;
    Record* whole = nullptr;  // end of the records of finished calls
    Bin* bin = nullptr;
    Bin* scratch = nullptr;
    std::uint64_t closed = 0;   // number of submitted bins
    std::uint32_t sampled = 0;  // records in the bin that belong to no call
    bool folded = false;        // records became sums since the previous bin
    bool is_reduced = false;    // a reduction is in progress
    bool counted = false;       // the owner counts as a thread with MPI calls; `limit` is `cursor` until then
  };
  Lane<MpiRecord> mpi_;
  Lane<PosixRecord> posix_;
  SampledExtension noted_{};  // samples without room so far; weight 0: none

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
  // For records that become aggregates for lack of a bin: small, so that the thread soon asks for a bin again. One for
  // each lane.
  static constexpr std::size_t kScratchRecords = 64;
  struct alignas(8) Scratch {
    std::array<std::byte, sizeof(PackHeader) + kScratchRecords * sizeof(MpiRecord)> bytes;
  };
  std::array<Scratch, 2> scratch_{};
  RecentCalls recent_mpi_, recent_posix_;  // of bins that have left the thread

 public:
  // The open calls of the owner, in its thread-local memory; nullptr: it ended.
  std::atomic<const ObservedFrame*> in_mpi = nullptr;
  std::atomic<const ObservedPosix*> in_posix = nullptr;
  std::atomic<const CallingContexts*> contexts = nullptr;  // of its samples; nullptr: not sampled
  LastSample last_sample;
};

// Spans the recording of an ended call; times one in kPeriod.
class CostTimer {
 public:
  CostTimer(ThreadRecorder& thread, RecordingCost& cost) noexcept : thread_(thread), cost_(cost) {
    if (--thread.until_timed == 0) [[unlikely]]
      begin();
  }
  ~CostTimer() {
    // Only if this call, not the next one, was chosen for timing.
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
