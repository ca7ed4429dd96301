// See sender.hpp.
#include "instrument/sender.hpp"

#include "instrument/clock.hpp"

namespace ardoise::instrument {

Bin* Sender::take(bool may_send) {
  if (Bin* bin = pool_.take()) return bin;
  if (!may_send) return nullptr;
  const std::uint64_t begin = now();
  Bin* bin = nullptr;
  {
    const std::lock_guard guard(send_lock_);
    collect();
    bin = pool_.take();
    while (bin == nullptr && !failed()) {
      send_submitted();
      Bin* arrived = transport_.reclaim(true);
      if (arrived == nullptr) break;  // all bins are with other threads
      pool_.give(arrived);
      bin = pool_.take();
    }
  }
  ledger_.count_blocked(now() - begin);
  return bin;
}

void Sender::submit(Bin* bin) {
  const std::lock_guard guard(queue_lock_);
  submitted_.push_back(bin);
}

void Sender::pump() {
  for (;;) {
    {
      const std::unique_lock sending(send_lock_, std::try_to_lock);
      if (!sending) return;
      send_submitted();
      collect();
    }
    // Looked at after unlocking: whoever submitted while we held the lock left his bins to us.
    const std::lock_guard guard(queue_lock_);
    if (submitted_.empty()) return;
  }
}

void Sender::close(Bin* last) {
  const std::lock_guard guard(send_lock_);
  send_submitted();
  for (Bin* bin : definitions_.take()) send(bin);
  if (last != nullptr) {
    last->header.flags |= kLastPack;
    send(last);
  }
  transport_.close();
  collect();
}

void Sender::send_submitted() {
  for (;;) {
    {
      const std::lock_guard guard(queue_lock_);
      std::swap(sending_, submitted_);
    }
    if (sending_.empty()) return;
    // After the swap: these bins' definitions were queued before the bins were.
    for (Bin* bin : definitions_.take()) send(bin);
    for (Bin* bin : sending_) send(bin);
    sending_.clear();
  }
}

void Sender::send(Bin* bin) {
  PackHeader& header = bin->header;
  header.magic = kPackMagic;
  header.version = kPackVersion;
  header.header_bytes = sizeof(PackHeader);
  header.table_hash = identity_.table_hash;
  header.partition = identity_.partition;
  header.rank = identity_.rank;
  header.weight = 1;
  header.origin_tick = identity_.origin_tick;
  header.ticks_per_second = identity_.ticks_per_second;
  header.sequence = sequence_++;
  ledger_.declare(header);
  if (!failed() && transport_.send(bin, sizeof(PackHeader) + header.payload_bytes)) return;
  failed_.store(true, std::memory_order_relaxed);
  ledger_.count_dropped(static_cast<PackClass>(header.pack_class), header.record_count);
  pool_.give(bin);
}

void Sender::collect() {
  while (Bin* arrived = transport_.reclaim(false)) pool_.give(arrived);
}

}  // namespace ardoise::instrument
