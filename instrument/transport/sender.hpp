// From full bins to packs on their way. Threads submit bins, a thread that may call MPI pumps them out in order, each
// after the definitions it needs, numbered and with the ledger in its header; and bins come back here when the pool is
// empty.
//
//   submit() ──▶ submitted ──▶ queue ─┐
//                 SampleSource ───────┴─▶ Transport, at most so many bins at once ──reclaim──▶ BinPool
//
// Only pump(), take(true, …) and close() touch the transport, under one lock. Under Policy::kAdapt nobody waits for it:
// who finds it taken leaves his bins to its holder. submit() and take(false, …) may be called from any thread at any
// time.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "blackboard/threads/mutex.hpp"
#include "instrument/buffer/bin_pool.hpp"
#include "instrument/buffer/definition_queue.hpp"
#include "instrument/buffer/ledger.hpp"
#include "instrument/settings/settings.hpp"
#include "instrument/transport/transport.hpp"

namespace ardoise::instrument {

// What all packs of a process have in common.
struct PackIdentity {
  std::uint32_t table_hash = 0;
  std::uint32_t partition = 0;
  std::uint32_t rank = 0;
  std::uint64_t origin_tick = 0;
  double ticks_per_second = 0;
};

// Who has samples (ThreadRegistry). Their bins stay where a drop can reach them until the transport can take them.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  // A bin to be sent but for the Sender's fields, or nullptr. all: whatever there is, however little.
  [[nodiscard]] virtual Bin* next_bin(bool all) = 0;
  // Makes bins free by sampling less; false: none.
  [[nodiscard]] virtual bool make_room() = 0;
};

class Sender {
 public:
  Sender(BinPool& pool, DefinitionQueue& definitions, Ledger& ledger, Transport& transport, PackIdentity identity,
         Policy policy);

  // Before the first pump().
  void set_samples(SampleSource* samples) { samples_ = samples; }

  // A bin to write into, of this class. may_send: the calling thread may call MPI now. nullptr: none can be had without
  // waiting. With may_send, Policy::kBlock waits for a bin in flight, as the online paper's streams do, and counts how
  // long; then nullptr says that all bins are with other threads.
  [[nodiscard]] Bin* take(PackClass pack_class, bool may_send);
  // Of take(), and nothing was written into it.
  void give_back(Bin* bin) { pool_.give(bin); }
  // Hands over a filled bin (see Bin for the fields). Never waits for the transport.
  void submit(Bin* bin);
  void submit_all(BinList& bins) {
    while (Bin* const bin = bins.take_first(pool_)) submit(bin);
  }
  // Sends what was submitted, collects what has arrived. Requires that the calling thread may call MPI now. May wait
  // when the transport's own buffers are all in flight.
  void pump();
  // The last thing: sends what was submitted, then `last` with the final ledger and kLastPack, and closes the
  // transport. False: not all of it was taken.
  bool close(Bin* last);

  // All threads have died, maybe in here. The packs that may not have arrived, in order: those on their way, and after
  // them whatever is filled in the pool, `definitions` and `last`, with the final ledger, numbered as if sent now.
  [[nodiscard]] std::vector<Bin*> take_remains(std::span<Bin* const> definitions, Bin* last);

  // What the next pack's header would say, but for its content; for who looks from beside, maybe while others send.
  void describe(PackHeader& header) const ARDOISE_THREAD_ATTRIBUTE(no_thread_safety_analysis);

  [[nodiscard]] std::size_t payload_bytes() const { return pool_.payload_bytes(); }  // of a bin
  [[nodiscard]] bool waits() const { return policy_ == Policy::kBlock; }
  // While the transport has as many bins as it may have. Relaxed, as failed().
  [[nodiscard]] const std::atomic<bool>& stream_full() const { return stream_full_; }
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  struct Queue {  // linked through the bins' headers
    Bin* first = nullptr;
    Bin* last = nullptr;
  };
  // In a field of the header that is 0 when the bin is sent.
  static Bin* link(const Bin* bin) { return reinterpret_cast<Bin*>(bin->header.reserved); }
  static void set_link(Bin* bin, Bin* next) { bin->header.reserved = reinterpret_cast<std::uint64_t>(next); }

  void send_some(std::size_t limit, bool all) REQUIRES(send_lock_);
  void take_submitted() REQUIRES(send_lock_);
  void send_definitions() REQUIRES(send_lock_);
  void address(PackHeader& header) REQUIRES(send_lock_);  // and numbers it
  void send(Bin* bin) REQUIRES(send_lock_);
  bool collect(bool wait) REQUIRES(send_lock_);
  [[nodiscard]] Bin* wait_for_bin(PackClass pack_class);

  BinPool& pool_;
  DefinitionQueue& definitions_;
  Ledger& ledger_;
  Transport& transport_;
  const PackIdentity identity_;
  const Policy policy_;
  const std::size_t in_flight_limit_;  // bins
  SampleSource* samples_ = nullptr;

  // A stack that is only pushed to and taken as a whole, hence without the trouble of a stack that is popped. Release
  // and acquire: the taker sees what was written into the bins.
  std::atomic<Bin*> submitted_ = nullptr;
  Mutex send_lock_;
  Queue queue_ GUARDED_BY(send_lock_);                // in the order of submission
  std::size_t in_flight_ GUARDED_BY(send_lock_) = 0;  // bins
  std::uint64_t sequence_ GUARDED_BY(send_lock_) = 0;
  std::atomic<bool> stream_full_ = false;
  // Relaxed: a thread that misses it at first only submits one bin more, which is dropped and counted.
  std::atomic<bool> failed_ = false;
};

}  // namespace ardoise::instrument
