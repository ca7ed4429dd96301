#include "instrument/transport/sender.hpp"

#include <algorithm>
#include <tuple>

#include "instrument/machine/clock.hpp"

namespace ardoise::instrument {
namespace {

// Bins in flight cannot be reclaimed, so they are limited to a part of all bins that still keeps a stream busy.
std::size_t flight_limit(const BinPool& pool, Policy policy) {
  return policy == Policy::kBlock ? SIZE_MAX : std::max<std::size_t>(pool.bins() / 4, 2);
}

}  // namespace

Sender::Sender(BinPool& pool, DefinitionQueue& definitions, Ledger& ledger, Transport& transport, PackIdentity identity,
               Policy policy)
    : pool_(pool),
      definitions_(definitions),
      ledger_(ledger),
      transport_(transport),
      identity_(identity),
      policy_(policy),
      in_flight_limit_(flight_limit(pool, policy)) {}

Bin* Sender::take(PackClass pack_class, bool may_send) {
  if (Bin* bin = pool_.take(pack_class)) return bin;
  if (policy_ == Policy::kBlock) return may_send ? wait_for_bin(pack_class) : nullptr;
  if (may_send && send_lock_.try_lock()) {
    const MutexLock sending(send_lock_, std::adopt_lock);
    if (collect(false)) {
      if (Bin* bin = pool_.take(pack_class)) return bin;
    }
  }
  // A class that has used up its share gains nothing from bins of other classes.
  if (!pool_.share_used_up(pack_class) && samples_ != nullptr && samples_->make_room()) return pool_.take(pack_class);
  return nullptr;
}

Bin* Sender::wait_for_bin(PackClass pack_class) {
  const std::uint64_t begin = now();
  Bin* bin = nullptr;
  {
    const MutexLock guard(send_lock_);
    (void)collect(false);
    bin = pool_.take(pack_class);
    while (bin == nullptr && !failed()) {
      send_some(in_flight_limit_, false);
      if (!collect(true)) break;  // all bins are with other threads
      bin = pool_.take(pack_class);
    }
  }
  ledger_.count_blocked(now() - begin);
  return bin;
}

void Sender::submit(Bin* bin) {
  Bin* head = submitted_.load(std::memory_order_relaxed);
  do {
    set_link(bin, head);
  } while (!submitted_.compare_exchange_weak(head, bin, std::memory_order_release, std::memory_order_relaxed));
}

void Sender::pump() {
  assert_may_wait();
  for (;;) {
    if (!send_lock_.try_lock()) return;
    {
      const MutexLock sending(send_lock_, std::adopt_lock);
      (void)collect(false);
      // The next call collects what this one sends: testing a send that has just begun can cost a time slice.
      send_some(in_flight_limit_, false);
    }
    // Checked after unlocking: threads that submitted meanwhile left their bins to this one.
    if (submitted_.load(std::memory_order_relaxed) == nullptr) return;
  }
}

bool Sender::close(Bin* last) {
  const MutexLock guard(send_lock_);
  send_some(SIZE_MAX, true);
  send_definitions();
  if (last != nullptr) {
    last->header.flags |= kLastPack;
    send(last);
  }
  const bool all_taken = transport_.close();
  (void)collect(false);
  return all_taken;
}

void Sender::take_submitted() {
  Bin* newest = submitted_.exchange(nullptr, std::memory_order_acquire);
  if (newest == nullptr) return;
  // The stack has the newest first.
  Queue batch{nullptr, newest};
  while (newest != nullptr) {
    Bin* const older = link(newest);
    set_link(newest, batch.first);
    batch.first = newest;
    newest = older;
  }
  if (queue_.last == nullptr) {
    queue_.first = batch.first;
  } else {
    set_link(queue_.last, batch.first);
  }
  queue_.last = batch.last;
}

void Sender::send_some(std::size_t limit, bool all) {
  for (;;) {
    take_submitted();
    if (in_flight_ >= limit) break;
    Bin* bin = queue_.first;
    if (bin != nullptr) {
      queue_.first = link(bin);
      if (queue_.first == nullptr) queue_.last = nullptr;
      set_link(bin, nullptr);
    } else {
      bin = samples_ != nullptr ? samples_->next_bin(all) : nullptr;
      if (bin == nullptr) break;
    }
    // After the bin was taken: its definitions were queued before it.
    send_definitions();
    send(bin);
  }
  stream_full_.store(in_flight_ >= limit, std::memory_order_relaxed);
}

void Sender::send_definitions() {
  for (Bin* bin : definitions_.take()) send(bin);
}

void Sender::describe(PackHeader& header) const {
  header.version = kPackVersion;
  header.header_bytes = sizeof(PackHeader);
  header.table_hash = identity_.table_hash;
  header.partition = identity_.partition;
  header.rank = identity_.rank;
  header.weight = std::max(header.weight, 1u);
  header.origin_tick = identity_.origin_tick;
  header.ticks_per_second = identity_.ticks_per_second;
  header.sequence = sequence_;
  ledger_.declare(header);
}

void Sender::address(PackHeader& header) {
  describe(header);
  // The last store: if the process dies in between, the remains show whether the bin has its number.
  std::atomic_signal_fence(std::memory_order_release);
  header.magic = kPackMagic;
  ++sequence_;
}

void Sender::send(Bin* bin) {
  address(bin->header);
  const PackHeader& header = bin->header;
  if (!failed() && transport_.send(bin, sizeof(PackHeader) + header.payload_bytes)) {
    ++in_flight_;
    return;
  }
  failed_.store(true, std::memory_order_relaxed);
  ledger_.count_dropped(static_cast<PackClass>(header.pack_class), header.counted_records());
  pool_.give(bin);
}

std::vector<Bin*> Sender::take_unsent(std::span<Bin* const> definitions, Bin* last) {
  send_lock_.force_unlock();
  const MutexLock guard(send_lock_);
  std::vector<Bin*> bins(definitions.begin(), definitions.end());
  const auto add_beyond = [&](Bin* bin) {
    if (!pool_.is_ours(bin)) bins.push_back(bin);
  };
  for (Bin* bin = submitted_.exchange(nullptr, std::memory_order_acquire); bin != nullptr; bin = link(bin))
    add_beyond(bin);
  for (Bin* bin = queue_.first; bin != nullptr; bin = link(bin)) add_beyond(bin);
  std::erase_if(bins, [&](const Bin* bin) { return pool_.is_ours(bin); });
  for (Bin* bin : pool_.taken()) {
    if (bin->header.pack_class != 0 && bin != last) bins.push_back(bin);
  }
  // Numbered bins may have arrived or not. Among the others, those that are referred to come first.
  const auto order = [](const Bin* bin) {
    const PackHeader& header = bin->header;
    const auto pack_class = static_cast<PackClass>(header.pack_class);
    const bool is_numbered = header.magic == kPackMagic;
    return std::tuple(!is_numbered, is_numbered ? header.sequence : 0, pack_class != PackClass::kDefinitions,
                      pack_class != PackClass::kContexts, pack_class, header.thread, header.order, header.first_tick);
  };
  std::ranges::sort(bins, {}, order);
  if (last != nullptr) {
    last->header.flags |= kLastPack;
    bins.push_back(last);
  }
  for (Bin* bin : bins) {
    PackHeader& header = bin->header;
    if (header.magic == kPackMagic) {
      sequence_ = std::max(sequence_, header.sequence + 1);
      continue;
    }
    header.reserved = 0;  // the link
    address(header);
  }
  return bins;
}

// True: at least one bin came back. wait: waits for the first one.
bool Sender::collect(bool wait) {
  bool any = false;
  while (Bin* arrived = transport_.reclaim(wait && !any)) {
    pool_.give(arrived);
    in_flight_ -= in_flight_ != 0 ? 1 : 0;
    any = true;
  }
  return any;
}

}  // namespace ardoise::instrument
