// From full bins to packs on their way. Threads submit bins, a thread that may call MPI pumps them out in order, each
// after the definitions it needs, numbered and with the ledger in its header; and bins come back here when the pool is
// empty.
//
// Only pump(), take(true, …) and close() touch the transport, under one lock which pump() merely tries: whoever finds
// it taken leaves his bins to its holder. submit() and take(false, …) may be called from any thread at any time.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "instrument/bin_pool.hpp"
#include "instrument/definition_queue.hpp"
#include "instrument/ledger.hpp"
#include "instrument/transport.hpp"

namespace ardoise::instrument {

// What all packs of a process have in common.
struct PackIdentity {
  std::uint32_t table_hash = 0;
  std::uint32_t partition = 0;
  std::uint32_t rank = 0;
  std::uint64_t origin_tick = 0;
  double ticks_per_second = 0;
};

class Sender {
 public:
  Sender(BinPool& pool, DefinitionQueue& definitions, Ledger& ledger, Transport& transport, PackIdentity identity)
      : pool_(pool), definitions_(definitions), ledger_(ledger), transport_(transport), identity_(identity) {}

  // A bin to write into. may_send: the calling thread may call MPI now; then it waits for a bin in flight when none is
  // free, as the paper's streams do, and counts how long. nullptr: none can be had, the records are to be dropped.
  [[nodiscard]] Bin* take(bool may_send);
  // Hands over a filled bin (see Bin for the fields). Never waits for the transport.
  void submit(Bin* bin);
  // Sends what was submitted, collects what has arrived. Requires that the calling thread may call MPI now. May wait
  // when the transport's own buffers are all in flight.
  void pump();
  // The last thing: sends what was submitted, then `last` with the final ledger and kLastPack, and closes the
  // transport.
  void close(Bin* last);

  [[nodiscard]] std::size_t payload_bytes() const { return pool_.payload_bytes(); }  // of a bin
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  void send_submitted();  // send_lock_ is held, also below
  void send(Bin* bin);
  void collect();

  BinPool& pool_;
  DefinitionQueue& definitions_;
  Ledger& ledger_;
  Transport& transport_;
  const PackIdentity identity_;

  std::mutex queue_lock_;
  std::vector<Bin*> submitted_;  // guarded by queue_lock_
  std::mutex send_lock_;
  std::vector<Bin*> sending_;   // guarded by send_lock_
  std::uint64_t sequence_ = 0;  // guarded by send_lock_
  // Relaxed: a thread that misses it at first only submits one bin more, which is dropped and counted.
  std::atomic<bool> failed_ = false;
};

}  // namespace ardoise::instrument
