// The store for the samples of one thread. The thread's own signal handler stores into it without waiting or
// allocating.
//
//   sampler's handler ──store()──▶ HierarchicalBuffer: the current epoch ──seal──▶ ready bins ──next_bin()──▶ Sender
//
// A thread numbers its samples. The number grows by 2^shift with each while the rate is the base rate divided by
// 2^shift; the level of a sample is the number of trailing zeros of its number. An *epoch* is a run of consecutive
// samples at one lowest level. Its lowest level can be dropped while the epoch is current: bins return to the pool at
// once, and each remaining sample stands for twice as much. The epoch is sealed when the stream can take its bins, or
// when the rate changes for another reason. From then on its packs declare 2^(lowest level) as their weight, and it no
// longer changes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "instrument/buffer/bin_pool.hpp"
#include "instrument/buffer/hierarchical_buffer.hpp"
#include "instrument/buffer/ledger.hpp"
#include "instrument/buffer/rate_control.hpp"
#include "instrument/format/definitions.hpp"
#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {

struct SamplingPlan {
  double base_hertz = 0;            // rate at shift 0; 0: an event is sampled
  std::uint64_t base_period = 0;    // occurrences of the sampled event for each sample at shift 0
  std::uint32_t counter_count = 0;  // at most kMaxCounters
  double share = 0.01;              // of the thread's time that sampling may cost; 0: without limit
  std::uint64_t hold_ticks = 1;     // minimum time between a change of rate and its rise
  std::uint32_t threads = 1;        // expected number of sampled threads: many threads get fewer levels each
};

enum class Stored {
  kStored,
  kNoRoom,  // no bin, or the store is locked at the moment: the weight goes to the thread's next sample
};

// Only the thread itself may call store(), account() and set_rate_shift(), in its handler or with the signal blocked.
// Any thread may call the rest. `used_` is a lock that is only tried, since a handler may have interrupted its holder.
class SampleStore {
 public:
  // stream_full: true while the transport takes no more; it tells the cause of a change of rate.
  SampleStore(BinPool& pool, Ledger& ledger, const std::atomic<bool>& stream_full)
      : pool_(pool), ledger_(ledger), stream_full_(stream_full), epoch_(pool, PackClass::kSamples) {}

  // The thread calls it before its first sample, with no handler running. Begins a new numbering. False: another thread
  // held the store for too long.
  [[nodiscard]] bool start(std::uint32_t thread, const SamplingPlan& plan, std::uint64_t tick) noexcept;
  [[nodiscard]] bool started() const noexcept { return started_.load(std::memory_order_relaxed); }

  // weight, kernel, counters: time in ns (or occurrences of the sampled event) and counts since the thread's previous
  // call, undivided. The store sets the level of the record and its values divided by 2^(lowest level). Remainders, and
  // values of samples without room, are carried to the next sample, so that sums are exact. counters.size() is
  // plan.counter_count.
  Stored store(const SampleRecord& sample, std::uint64_t weight, std::uint64_t kernel,
               std::span<const std::uint64_t> counters) noexcept;

  // Adds the cost of this sample; called at the end of the handler.
  void account(std::uint64_t handler_ticks, std::uint64_t tick) noexcept;

  // The sampler must run at base rate >> rate_shift() (period << rate_shift()). It checks after store() and account().
  // Relaxed: a late check costs only a sample at the old rate, whose weight is right.
  [[nodiscard]] std::uint32_t rate_shift() const noexcept { return shift_.load(std::memory_order_relaxed); }
  void set_rate_shift(std::uint32_t shift, SamplingCause cause, std::uint64_t tick) noexcept;
  // The user's change of the base rate or period and of the share. False: the store is locked at the moment.
  [[nodiscard]] bool set_base(double hertz, std::uint64_t period, double share, std::uint64_t tick) noexcept;

  // --- for the sending thread ---

  // A bin that lacks only the Sender's header fields, or nullptr. seal: also takes the bins of the current epoch, once
  // one of them is full or the epoch is older than age_ticks (0: at any age).
  [[nodiscard]] Bin* next_bin(bool seal, std::uint64_t age_ticks, std::uint64_t tick);
  // Drops the lowest level of the current epoch to make room for others. Returns the number of bins freed.
  std::uint32_t make_room(std::uint64_t tick);
  // Bins that make_room() may work on.
  [[nodiscard]] std::uint32_t bins() const noexcept { return bins_.load(std::memory_order_relaxed); }
  // Writes the changes of rate since the last call, at most `changes.size()`, and returns their number.
  [[nodiscard]] std::size_t take_changes(std::span<SamplingDefinition> changes);

  // Moves all that is held to next_bin(), at the end of the thread or of the recording.
  void flush(std::uint64_t tick);

  // For use when all threads have died, maybe inside this class: discards a write that was in progress.
  void force_unlock() noexcept;

  // Samples that store() took, and samples without room. Some of those taken may have been dropped later.
  [[nodiscard]] std::uint64_t stored() const noexcept { return stored_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t no_room() const noexcept { return no_room_.load(std::memory_order_relaxed); }

 private:
  class Use;

  [[nodiscard]] std::byte* room(std::uint64_t tick) noexcept;
  void put(std::byte* room, const SampleRecord& sample) noexcept;
  Stored lose() noexcept;
  [[nodiscard]] std::uint32_t drop(SamplingCause cause, std::uint64_t tick) noexcept;
  void seal() noexcept;
  void reopen(SamplingCause cause, std::uint64_t tick) noexcept;
  void open(std::uint64_t tick) noexcept;
  void note(SamplingCause cause, std::uint64_t tick) noexcept;
  [[nodiscard]] SamplingCause shortage() const noexcept {
    return stream_full_.load(std::memory_order_relaxed) ? SamplingCause::kStream : SamplingCause::kMemory;
  }
  static void count(std::atomic<std::uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  BinPool& pool_;
  Ledger& ledger_;
  const std::atomic<bool>& stream_full_;
  // The handler's own values for the next sample, undivided.
  struct Pending {
    std::uint64_t weight = 0, kernel = 0;
    std::array<std::uint64_t, kMaxCounters> counters{};
  } pending_;
  // Acquire and release: the handler and the sending thread see each other's writes to all members below. Only tried,
  // never waited for.
  std::atomic_flag used_ = ATOMIC_FLAG_INIT;
  HierarchicalBuffer epoch_;
  BinList ready_;  // sealed, in the order of sending
  RateControl control_;
  SamplingPlan plan_;
  std::uint32_t thread_ = 0;
  std::uint32_t record_bytes_ = sizeof(SampleRecord);  // with counters
  std::uint64_t number_ = 0;                           // of the last sample
  std::uint64_t epoch_begin_ = 0;
  std::uint64_t last_lowered_ = 0;

  static constexpr std::size_t kChanges = 32;
  std::array<SamplingDefinition, kChanges> changes_{};
  std::size_t change_count_ = 0;

  std::atomic<std::uint32_t> shift_ = 0, bins_ = 0;
  std::atomic<std::uint64_t> stored_ = 0, no_room_ = 0;
  std::atomic<bool> started_ = false;
};

}  // namespace ardoise::instrument
