// The recording part of one process, without MPI and environment. Built when MPI is up (session.cpp), and by tests with
// their own transport. Never destroyed while a hook may run.
//
//   mpi_recorder.cpp ─┐
//   posix_monitor.cpp ┴─▶ Recorder ──▶ ThreadRecorder ──▶ Sender ──▶ Transport
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "instrument/buffer/bin_pool.hpp"
#include "instrument/buffer/definition_queue.hpp"
#include "instrument/buffer/ledger.hpp"
#include "instrument/format/posix_functions.hpp"
#include "instrument/machine/memory_trace.hpp"
#include "instrument/python/interpreter.hpp"
#include "instrument/record/aggregates.hpp"
#include "instrument/record/call_sites.hpp"
#include "instrument/record/call_sums.hpp"
#include "instrument/record/event_reduction.hpp"
#include "instrument/record/file_accesses.hpp"
#include "instrument/record/files.hpp"
#include "instrument/record/handle_ids.hpp"
#include "instrument/record/mark_names.hpp"
#include "instrument/record/request_table.hpp"
#include "instrument/record/thread_recorder.hpp"
#include "instrument/record/thread_registry.hpp"
#include "instrument/settings/live_settings.hpp"
#include "instrument/settings/settings.hpp"
#include "instrument/transport/sender.hpp"
#include "instrument/transport/transport.hpp"

namespace ardoise::instrument {

class Recorder {
 public:
  // threads_call_mpi: several threads may call MPI at once. flush_ticks: age at which a partly filled bin is sent.
  Recorder(const Settings& settings, Transport& transport, const PackIdentity& identity, std::uint64_t flush_ticks,
           bool threads_call_mpi);

  // False: no memory for bins; do not start.
  [[nodiscard]] bool ready() const { return pool.bins() != 0; }

  // The thread stays in kRecording, here and below.
  [[nodiscard]] std::uint32_t call_site(ThreadRecorder& thread, const void* return_address) {
    const std::uint64_t address = place_of(return_address, true);
    if (const std::uint32_t id = thread.call_sites.find(address); id != 0) [[likely]]
      return id;
    return new_call_site(thread, address);
  }

  // A POSIX call that has ended.
  struct PosixEvent {
    PosixFunction function;
    std::uint32_t file;  // Files number
    std::uint64_t begin, end;
    std::uint64_t bytes;
    bool failed;
    const void* return_address;
    int error = 0;  // errno of a failed call
  };
  // The thread stays in kHook. Skips I/O of MPI itself, recognised by the caller's module. Returns the sums added to
  // the thread's totals: one call, or none. Async-signal-safe.
  CallSums posix(ThreadRecorder& thread, const PosixEvent& event) noexcept;
  // The same if the thread cannot record (activity.hpp): adds to the totals and counts a dropped record.
  // Async-signal-safe.
  void count_only(const PosixEvent& event) noexcept;
  // Likewise a call of MPI; its bytes are unknown.
  void count_only(ThreadRecorder& thread, std::uint32_t function, std::uint64_t ticks) noexcept;

  // Adds `sums` of query calls from one place as a sum, and to the thread's totals. False: out of memory, nothing is
  // added.
  [[nodiscard]] bool add_queries(ThreadRecorder& thread, std::uint32_t function, std::uint32_t call_site,
                                 const CallSums& sums, std::uint64_t begin, std::uint64_t end);
  // Records the thread's queries that were counted but not recorded; the thread makes no more of them.
  void record_queries(ThreadRecorder& thread, std::uint64_t tick);

  // A call of a thread without a recorder, for lack of memory: counts it as dropped. It is in no sum; a notice reports
  // it.
  void lose_call(PackClass pack_class);

  // A mark that the program sets. The thread stays in kRecording.
  void mark(ThreadRecorder& thread, MarkKind kind, std::string_view name, std::uint64_t value);

  // A mark from a signal handler that interrupted this library.
  void lose_mark() {
    ledger.count_recorded(PackClass::kMpi, 1);
    ledger.count_dropped(PackClass::kMpi, 1);
  }

  // Called after the records of a call: sends old data.
  void after_event(ThreadRecorder& thread, std::uint64_t end) {
    if (end >= thread.next_flush.load(std::memory_order_relaxed)) [[unlikely]] {
      const std::uint64_t started = now();
      flush_old(thread, end);
      thread.count_sending(started);
    }
  }

  // Sends the definitions so far, so that the analyzer knows the process first. The calling thread may call MPI.
  void send_first();

  // Ends recording: stops all threads, sends all bins, then the totals as the last pack with the final ledger.
  // Definitions that were queued before (the final clock) are sent too. The calling thread may call MPI and is not
  // inside. False: the analyzer did not accept all of it.
  bool finish(std::uint64_t tick);
  // Returns when no thread records any more. False: some threads did not leave within a second, and their data is lost
  // uncounted. The calling thread is not inside.
  [[nodiscard]] bool stop();

  // Called in MPI_Finalize before stop(). A signal handler may have left the calling thread's last call by siglongjmp
  // (activity.hpp): ends that call.
  void end_left_call(ThreadRecorder& thread);

  // For the survivor, when all threads of the process have died at any moment, maybe inside. force_unlock() resets each
  // thread to the state before the call it was recording and releases all locks. take_unsent() then returns all bins
  // that the analyzer may lack, in the order of their numbers, after other definitions were queued. Allocates.
  void force_unlock();
  [[nodiscard]] std::vector<Bin*> take_unsent(std::uint64_t tick);

  // The totals so far, for the survivor: takes no lock, allocates nothing. Returns how many fit.
  std::size_t totals(std::span<TotalsRecord> room) const noexcept { return threads.totals(counted_only_, room); }

  // Every entry point checks it first (through ActivityScope). Acquire and release: a thread that sees true sees all
  // that was built.
  std::atomic<bool> active = false;

  // Called when a thread's bins have become old, before they are sent; the thread may or may not be able to send.
  void (*on_flush)(ThreadRecorder& thread) = nullptr;
  // Called at least once when the transport has failed for good, from any recording thread.
  void (*on_failure)() noexcept = nullptr;

  LiveSettings live;
  BinPool pool;
  Ledger ledger;
  DefinitionQueue definitions;
  Sender sender;
  MemoryTrace memory;
  RecordingCost cost;
  Aggregates aggregates;
  EventReduction reduction;
  ThreadRegistry threads;
  CallSites call_sites;
  MarkNames mark_names;
  Files files;
  FileAccesses accesses;
  HandleIds handles;
  RequestTable requests;

 private:
  // The return address, or the place in the Python function that it represents.
  [[nodiscard]] static std::uint64_t place_of(const void* return_address, bool in_call) noexcept {
    const auto address = reinterpret_cast<std::uint64_t>(return_address);
    python::Interpreter* const interpreter = python::interpreter.load(std::memory_order_relaxed);
    return interpreter == nullptr ? address : interpreter->place_of(address, in_call);
  }
  std::uint32_t new_call_site(ThreadRecorder& thread, std::uint64_t address);
  void flush_old(ThreadRecorder& thread, std::uint64_t end);
  void report_changes();
  void take_snapshots(ThreadRecorder& thread);
  [[nodiscard]] Bin* totals_pack();
  [[nodiscard]] Bin* last_pack(std::uint64_t tick);  // the final totals

  void submit_aggregates(bool all);

  std::array<FunctionTotals, kPosixFunctionCount> counted_only_{};  // atomic additions, of any thread
  bool all_left_ = true;                                            // when recording was stopped
  bool was_left_ = false;                                           // end_left_call() found one
  std::atomic<bool> lost_calls_ = false;
  // Ticks; relaxed: an occasional extra pack of totals does no harm.
  std::atomic<std::uint64_t> next_totals_ = 0;
};

}  // namespace ardoise::instrument
