// Sends full bins as packs. Threads submit bins. A thread that may call MPI sends them in order, each after the
// definitions that it needs, numbered and with the ledger in its header. Bins return from the transport when the pool
// is empty.
//
//   submit() ──▶ submitted ──▶ queue ─┐
//                 SampleSource ───────┴─▶ Transport, a limited number of bins at once ──reclaim──▶ BinPool
//
// Only pump(), take(true, …) and close() use the transport, under one lock. Under Policy::kAdapt no thread waits for
// it: a thread that finds the lock taken leaves its bins to the holder. Any thread may call submit() and take(false, …)
// at any time.
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

// The fields that all packs of a process share.
struct PackIdentity {
  std::uint32_t table_hash = 0;
  std::uint32_t partition = 0;
  std::uint32_t rank = 0;
  std::uint64_t origin_tick = 0;
  double ticks_per_second = 0;
};

// The source of samples (ThreadRegistry). It keeps its bins, and can still drop some, until the transport can take
// them.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  // A bin that lacks only the Sender's header fields, or nullptr. all: also partly filled ones.
  [[nodiscard]] virtual Bin* next_bin(bool all) = 0;
  // Frees bins by sampling less; false: none.
  [[nodiscard]] virtual bool make_room() = 0;
};

class Sender {
 public:
  Sender(BinPool& pool, DefinitionQueue& definitions, Ledger& ledger, Transport& transport, PackIdentity identity,
         Policy policy);

  // Call it before the first pump().
  void set_samples(SampleSource* samples) { samples_ = samples; }

  // A bin of this class to write into. may_send: the calling thread may call MPI now. nullptr: none is available
  // without waiting. With may_send, Policy::kBlock waits for a bin in flight, like the streams of the online paper, and
  // counts the time; nullptr then means that other threads hold all bins.
  [[nodiscard]] Bin* take(PackClass pack_class, bool may_send);
  // Returns a bin from take() that was not written.
  void give_back(Bin* bin) { pool_.give(bin); }
  // Hands over a filled bin (see Bin for the fields). Never waits for the transport.
  void submit(Bin* bin);
  void submit_all(BinList& bins) {
    while (Bin* const bin = bins.take_first(pool_)) submit(bin);
  }
  // Sends submitted bins and collects those that arrived. Requires that the calling thread may call MPI now. May wait
  // when the transport's own buffers are all in flight.
  void pump();
  // The last call: sends submitted bins, then `last` with the final ledger and kLastPack, and closes the transport.
  // False: not all of it was accepted.
  bool close(Bin* last);

  // For use when all threads have died, maybe inside this class. Returns the packs that may not have arrived, in order:
  // those in flight, then all filled bins of the pool, `definitions` and `last`, with the final ledger, numbered as if
  // sent now.
  [[nodiscard]] std::vector<Bin*> take_unsent(std::span<Bin* const> definitions, Bin* last);

  // The header of the next pack without its content; for the survivor, maybe while other threads send.
  void describe(PackHeader& header) const ARDOISE_THREAD_ATTRIBUTE(no_thread_safety_analysis);

  [[nodiscard]] std::size_t payload_bytes() const { return pool_.payload_bytes(); }  // of a bin
  [[nodiscard]] bool waits() const { return policy_ == Policy::kBlock; }
  // True while the transport holds as many bins as it may. Relaxed, like failed().
  [[nodiscard]] const std::atomic<bool>& stream_full() const { return stream_full_; }
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  struct Queue {  // linked through the bins' headers
    Bin* first = nullptr;
    Bin* last = nullptr;
  };
  // Stored in a field of the header that is 0 when the bin is sent.
  static Bin* link(const Bin* bin) { return reinterpret_cast<Bin*>(bin->header.reserved); }
  static void set_link(Bin* bin, Bin* next) { bin->header.reserved = reinterpret_cast<std::uint64_t>(next); }

  void send_some(std::size_t limit, bool all) REQUIRES(send_lock_);
  void take_submitted() REQUIRES(send_lock_);
  void send_definitions() REQUIRES(send_lock_);
  void address(PackHeader& header) REQUIRES(send_lock_);  // sets the sender's fields and the sequence number
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

  // A stack with push and take-all only, so there is no ABA problem. Release and acquire: the taker sees all that was
  // written into the bins.
  std::atomic<Bin*> submitted_ = nullptr;
  Mutex send_lock_;
  Queue queue_ GUARDED_BY(send_lock_);                // in the order of submission
  std::size_t in_flight_ GUARDED_BY(send_lock_) = 0;  // bins
  std::uint64_t sequence_ GUARDED_BY(send_lock_) = 0;
  std::atomic<bool> stream_full_ = false;
  // Relaxed: a thread that misses it submits one more bin, which is dropped and counted.
  std::atomic<bool> failed_ = false;
};

}  // namespace ardoise::instrument
