#include "instrument/record/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace ardoise::instrument {
namespace {

// Number of bin ages between two packs of totals, which serve live views and runs that die.
constexpr std::uint64_t kFlushesPerTotals = 5;

CallSums sums_of(const Recorder::PosixEvent& event) {
  const PosixCategory category = kPosixFunctions[static_cast<std::size_t>(event.function)].category;
  return {1, event.end - event.begin, category == PosixCategory::kWrite ? event.bytes : 0,
          category == PosixCategory::kRead ? event.bytes : 0};
}

void add_to_totals(ThreadRecorder& thread, std::uint32_t function, const CallSums& sums) {
  FunctionTotals& totals = thread.mpi_totals(function);
  FunctionTotals::add(totals.calls, sums.calls);
  FunctionTotals::add(totals.ticks, sums.ticks);
}

}  // namespace

Recorder::Recorder(const Settings& settings, Transport& transport, const PackIdentity& identity,
                   std::uint64_t flush_ticks, bool threads_call_mpi)
    : live(flush_ticks),
      pool(settings.budget_bytes, settings.bin_bytes, settings.policy == Policy::kBlock ? 1 : settings.mpi_share),
      definitions(pool),
      sender(pool, definitions, ledger, transport, identity, settings.policy),
      aggregates(pool),
      reduction(aggregates, ledger),
      threads(pool, sender, ledger, reduction, definitions, live.flush_ticks),
      call_sites(definitions),
      files(definitions),
      requests(pool, threads_call_mpi) {
  sender.set_samples(&threads);
  reduction.fold_at_once(settings.sums);
}

std::uint32_t Recorder::new_call_site(ThreadRecorder& thread, std::uint64_t address) {
  const std::uint32_t id = call_sites.id_of(address);
  if (id != kNoCallSite) thread.call_sites.put(address, id);
  return id;
}

CallSums Recorder::posix(ThreadRecorder& thread, const PosixEvent& event) noexcept {
  const std::uint64_t address = place_of(event.return_address, false);
  std::uint32_t site = thread.call_sites.find(address);
  if (site == 0) [[unlikely]] {
    site = call_sites.find(address);
    if (site != kNoCallSite) thread.call_sites.put(address, site);
  }
  if (site == kMpiCallSite) return {};
  const CallSums sums = sums_of(event);
  FunctionTotals& totals = thread.posix_totals(event.function);
  FunctionTotals::add(totals.calls, 1);
  FunctionTotals::add(totals.ticks, sums.ticks);
  FunctionTotals::add(totals.bytes, event.bytes);
  FunctionTotals::add(totals.bytes_sent, sums.bytes_sent);
  FunctionTotals::add(totals.bytes_received, sums.bytes_received);
  *thread.posix_room(event.begin, event.end) = {
      event.begin,
      static_cast<std::uint32_t>(std::min<std::uint64_t>(sums.ticks, kWide)),
      site,
      event.file,
      static_cast<std::uint16_t>(event.function),
      static_cast<std::uint16_t>(event.failed ? kPosixFailed | event.error << 1 : 0),
      event.bytes};
  return sums;
}

void Recorder::count_only(const PosixEvent& event) noexcept {
  if (!active.load(std::memory_order_acquire) ||
      call_sites.find(reinterpret_cast<std::uint64_t>(event.return_address)) == kMpiCallSite)
    return;
  const CallSums sums = sums_of(event);
  FunctionTotals& totals = counted_only_[static_cast<std::size_t>(event.function)];
  const auto add = [](FunctionTotals::Counter& counter, std::uint64_t value) {
    counter.fetch_add(value, std::memory_order_relaxed);
  };
  add(totals.calls, 1);
  add(totals.ticks, sums.ticks);
  add(totals.bytes, event.bytes);
  add(totals.bytes_sent, sums.bytes_sent);
  add(totals.bytes_received, sums.bytes_received);
  ledger.count_recorded(PackClass::kPosix, 1);
  ledger.count_dropped(PackClass::kPosix, 1);
}

void Recorder::count_only(ThreadRecorder& thread, std::uint32_t function, std::uint64_t ticks) noexcept {
  if (!active.load(std::memory_order_acquire)) return;
  add_to_totals(thread, function, {1, ticks, 0, 0});
  ledger.count_recorded(PackClass::kMpi, 1);
  ledger.count_dropped(PackClass::kMpi, 1);
}

bool Recorder::add_queries(ThreadRecorder& thread, std::uint32_t function, std::uint32_t call_site,
                           const CallSums& sums, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t mean = sums.ticks / sums.calls;
  const AggregateRecord record{make_word(kNoComm, function, Shape::kLocal),
                               call_site,
                               kNoPeer,
                               static_cast<std::uint16_t>(function),
                               AggregatePart::kCall,
                               0,
                               sums.calls,
                               0,
                               sums.ticks,
                               0,
                               0,
                               0,
                               mean,
                               mean};
  BinList full;
  const bool added = aggregates.add(record, begin, end, full);
  sender.submit_all(full);
  if (added) add_to_totals(thread, function, sums);
  return added;
}

void Recorder::record_queries(ThreadRecorder& thread, std::uint64_t tick) {
  thread.queries.for_each_pending([&](QueryCounts::Place& place) {
    const CallSums sums{place.pending, place.pending * place.shortest, 0, 0};
    place.pending = 0;
    const std::uint32_t site = site_for_record(call_site(thread, place.caller));
    if (add_queries(thread, place.function, site, sums, tick, tick)) return;
    ledger.count_recorded(PackClass::kMpi, 1);
    ledger.count_dropped(PackClass::kMpi, 1);
    add_to_totals(thread, place.function, sums);
  });
}

void Recorder::mark(ThreadRecorder& thread, MarkKind kind, std::string_view name, std::uint64_t value) {
  const std::uint64_t tick = now();
  thread.may_send = false;  // the program may be at a place where MPI must not be called
  thread.add_mark({tick, value, mark_names.id_of(name, definitions), kNoCallSite, kind, {}, kMarkWord});
  after_event(thread, tick);
}

void Recorder::lose_call(PackClass pack_class) {
  ledger.count_recorded(pack_class, 1);
  ledger.count_dropped(pack_class, 1);
  if (lost_calls_.exchange(true, std::memory_order_relaxed)) return;
  (void)definitions.add(NoticeDefinition{1, 0}, std::string_view("A thread had no memory to record into; its calls are "
                                                                 "counted as dropped and are in no sum."));
}

void Recorder::flush_old(ThreadRecorder& thread, std::uint64_t end) {
  assert_may_wait();
  const bool first = thread.next_flush.load(std::memory_order_relaxed) == 0;
  const std::uint64_t flush_ticks = live.flush_ticks.load(std::memory_order_relaxed);
  thread.next_flush.store(end + flush_ticks, std::memory_order_relaxed);
  memory.update(end);
  take_snapshots(thread);
  if (first) return;
  // While the stream is full, a partly filled bin would only wait in line, so it is filled first; and totals, which may
  // exceed the budget, would queue up.
  const bool flows = sender.waits() || !sender.stream_full().load(std::memory_order_relaxed);
  if (flows) {
    if (on_flush != nullptr) on_flush(thread);
    thread.flush();
    submit_aggregates(false);
  }
  report_changes();
  call_sites.learn_wanted();
  if (!thread.may_send) return;
  threads.define_changes();
  if (flows && end >= next_totals_.load(std::memory_order_relaxed)) {
    next_totals_.store(end + kFlushesPerTotals * flush_ticks, std::memory_order_relaxed);
    if (Bin* const bin = totals_pack()) sender.submit(bin);
  }
  sender.pump();
  if (sender.failed() && on_failure != nullptr) on_failure();
}

// Notes the settings that changed during the run, for the report.
void Recorder::report_changes() {
  live.changes.take([this](std::string_view what, std::uint32_t) {
    (void)definitions.add(NoticeDefinition{1, 0}, fmt::format("{}.", what));
  });
}

// Takes snapshots that a command requested, as marks of the first thread, whose marks divide the profile.
void Recorder::take_snapshots(ThreadRecorder& thread) {
  if (thread.number() != 0) return;
  live.snapshots.take([&](std::string_view name, std::uint32_t number) {
    thread.add_mark(
        {now(), number, mark_names.id_of(name, definitions), kNoCallSite, MarkKind::kSnapshot, {}, kMarkWord});
  });
}

void Recorder::submit_aggregates(bool all) {
  BinList tables;
  aggregates.flush(all, tables);
  sender.submit_all(tables);
}

Bin* Recorder::totals_pack() {
  const auto totals = threads.totals(counted_only_);
  Bin* const bin = pool.take_beyond_budget(PackClass::kTotals);
  if (bin == nullptr) return nullptr;
  const std::size_t records = std::min(totals.size(), pool.payload_bytes() / sizeof(TotalsRecord));
  if (records != 0) std::memcpy(bin->payload(), totals.data(), records * sizeof(TotalsRecord));
  bin->header.pack_class = static_cast<std::uint16_t>(PackClass::kTotals);
  bin->header.record_count = static_cast<std::uint32_t>(records);
  bin->header.payload_bytes = static_cast<std::uint32_t>(records * sizeof(TotalsRecord));
  return bin;
}

void Recorder::send_first() {
  if (Bin* const bin = totals_pack()) sender.submit(bin);
  sender.pump();
}

void Recorder::end_left_call(ThreadRecorder& thread) {
  if (thread.activity.load(std::memory_order_relaxed) == Activity::kProgram) return;
  thread.end_left_call();
  was_left_ = true;
}

bool Recorder::stop() {
  active.store(false, std::memory_order_release);
  all_left_ = threads.wait_until_outside();
  if (was_left_ && all_left_) {
    force_unlock();  // the call that was left may have held locks
    (void)definitions.add(
        NoticeDefinition{1, 0},
        std::string_view(
            "A signal handler of the program left this library by siglongjmp. Since then the calls of that "
            "thread are counted, but not recorded, and it has no samples."));
  }
  return all_left_;
}

void Recorder::force_unlock() {
  active.store(false, std::memory_order_relaxed);
  definitions.force_unlock();
  call_sites.force_unlock();
  aggregates.force_unlock();
  handles.force_unlock();
  requests.force_unlock();
  threads.force_unlock();
}

std::vector<Bin*> Recorder::take_unsent(std::uint64_t tick) {
  threads.flush_all([&](ThreadRecorder& thread) { record_queries(thread, tick); });
  submit_aggregates(true);
  return sender.take_unsent(definitions.take(), last_pack(tick));
}

Bin* Recorder::last_pack(std::uint64_t tick) {
  Bin* const last = totals_pack();
  if (last != nullptr) last->header.last_tick = last->header.first_tick = tick;
  return last;
}

bool Recorder::finish(std::uint64_t tick) {
  if (active.load(std::memory_order_relaxed)) (void)stop();
  threads.flush_all([&](ThreadRecorder& thread) {
    record_queries(thread, tick);
    take_snapshots(thread);
  });
  report_changes();
  if (!all_left_) {
    // Only a notice can report the loss; the ledger of the last pack cannot count unseen records.
    (void)definitions.add(NoticeDefinition{1, 0},
                          std::string_view("A thread did not leave the recorder in time; its last records are lost."));
  }
  submit_aggregates(true);
  return sender.close(last_pack(tick));
}

}  // namespace ardoise::instrument
