// See recorder.hpp.
#include "instrument/recorder.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace ardoise::instrument {
namespace {

// How many ages of a bin pass between two packs of totals: they are for watching a run and for runs that die.
constexpr std::uint64_t kFlushesPerTotals = 5;

}  // namespace

Recorder::Recorder(const Settings& settings, Transport& transport, const PackIdentity& identity,
                   std::uint64_t flush_ticks, bool threads_call_mpi)
    : pool(settings.budget_bytes, settings.bin_bytes),
      definitions(pool),
      sender(pool, definitions, ledger, transport, identity),
      threads(sender, ledger, definitions),
      call_sites(definitions),
      files(definitions),
      requests(pool, threads_call_mpi),
      flush_ticks_(flush_ticks) {}

std::uint32_t Recorder::new_call_site(ThreadRecorder& thread, const void* return_address) {
  const std::uint32_t id = call_sites.id_of(return_address);
  if (id != kNoCallSite) thread.call_sites.put(reinterpret_cast<std::uint64_t>(return_address), id);
  return id;
}

void Recorder::posix(ThreadRecorder& thread, PosixFunction function, std::uint32_t file, std::uint64_t begin,
                     std::uint64_t end, std::uint64_t bytes, bool failed, const void* return_address) {
  const std::uint32_t site = call_site(thread, return_address);
  if (site == kMpiCallSite) return;
  const std::uint64_t duration = end - begin;
  FunctionTotals& totals = thread.posix_totals(function);
  FunctionTotals::add(totals.calls, 1);
  FunctionTotals::add(totals.ticks, duration);
  FunctionTotals::add(totals.bytes, bytes);
  const PosixCategory category = kPosixFunctions[static_cast<std::size_t>(function)].category;
  if (category == PosixCategory::kWrite) FunctionTotals::add(totals.bytes_sent, bytes);
  if (category == PosixCategory::kRead) FunctionTotals::add(totals.bytes_received, bytes);
  *thread.posix_room(begin, end) = {begin,
                                    static_cast<std::uint32_t>(std::min<std::uint64_t>(duration, kWide)),
                                    site,
                                    file,
                                    static_cast<std::uint16_t>(function),
                                    static_cast<std::uint16_t>(failed ? 1 : 0),
                                    bytes};
  after_event(thread, end);
}

void Recorder::flush_old(ThreadRecorder& thread, std::uint64_t end) {
  const bool first = thread.next_flush == 0;
  thread.next_flush = end + flush_ticks_;
  if (first) return;
  thread.flush();
  if (!thread.may_send) return;
  if (end >= next_totals_.load(std::memory_order_relaxed)) {
    next_totals_.store(end + kFlushesPerTotals * flush_ticks_, std::memory_order_relaxed);
    if (Bin* const bin = totals_pack()) sender.submit(bin);
  }
  sender.pump();
  if (sender.failed() && on_failure != nullptr) on_failure();
}

Bin* Recorder::totals_pack() {
  const auto totals = threads.totals();
  Bin* const bin = pool.take_beyond_budget();
  if (bin == nullptr) return nullptr;
  const std::size_t records = std::min(totals.size(), pool.payload_bytes() / sizeof(TotalsRecord));
  if (records != 0) std::memcpy(bin->payload(), totals.data(), records * sizeof(TotalsRecord));
  bin->header.pack_class = static_cast<std::uint16_t>(PackClass::kTotals);
  bin->header.record_count = static_cast<std::uint32_t>(records);
  bin->header.payload_bytes = static_cast<std::uint32_t>(records * sizeof(TotalsRecord));
  return bin;
}

void Recorder::finish(std::uint64_t tick) {
  active.store(false, std::memory_order_release);
  if (!threads.flush_all()) {
    // A note of the loss is all that can be done; the ledger of the last pack can't count what it can't see.
    (void)definitions.add(NoticeDefinition{1, 0},
                          std::string_view("A thread did not leave the recorder in time; its last records are lost."));
  }
  Bin* const last = totals_pack();
  if (last != nullptr) last->header.last_tick = last->header.first_tick = tick;
  sender.close(last);
}

}  // namespace ardoise::instrument
