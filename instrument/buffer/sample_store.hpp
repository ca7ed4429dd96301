// Where the samples of one thread go. The thread's own signal handler stores; nothing there waits or allocates.
//
//   sampler's handler ──store()──▶ HierarchicalBuffer: the current epoch ──seal──▶ ready bins ──next_bin()──▶ Sender
//
// A thread numbers its samples, counting 2^shift for each while the rate is the base rate divided by 2^shift; the level
// of a sample is the number of trailing zeros of its number. An *epoch* is a run of consecutive samples at one lowest
// level. While it is current, its lowest level can be dropped: bins go back at once, and what remains stands for
// twice as much. It is sealed when the stream can take its bins, or when the rate changes for another reason; then its
// packs declare 2^(lowest level) as their weight, and it is not touched any more.
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
  std::uint64_t hold_ticks = 1;     // the least time between a change of rate and its rise
  std::uint32_t threads = 1;        // that will sample, about: many share the bins with fewer levels each
};

enum class Stored {
  kStored,
  kNoRoom,  // no bin, or the store is in use at this moment: the weight goes to the thread's next sample
};

// store(), account() and set_rate_shift() may be called only by the thread itself, in its handler (or with that
// blocked); the rest by any thread. `used_` is a lock that is only tried: a handler may have interrupted its holder.
class SampleStore {
 public:
  // stream_full: set while the transport takes no more, so that a change of rate can name its cause.
  SampleStore(BinPool& pool, Ledger& ledger, const std::atomic<bool>& stream_full)
      : pool_(pool), ledger_(ledger), stream_full_(stream_full), epoch_(pool, PackClass::kSamples) {}

  // By the thread before its first sample, with no handler running: begins a new numbering. False: another thread has
  // held the store for too long.
  [[nodiscard]] bool start(std::uint32_t thread, const SamplingPlan& plan, std::uint64_t tick) noexcept;
  [[nodiscard]] bool started() const noexcept { return started_.load(std::memory_order_relaxed); }

  // weight, kernel, counters: ns (or occurrences of the sampled event) and counts since the thread's call before,
  // undivided.
  // What the record holds of them, and its level, is set here: divided by 2^(lowest level), with what remains and what
  // found no room carried to the next sample, so that sums are exact. counters.size() is plan.counter_count.
  Stored store(const SampleRecord& sample, std::uint64_t weight, std::uint64_t kernel,
               std::span<const std::uint64_t> counters) noexcept;

  // At the end of the handler: what this sample cost.
  void account(std::uint64_t handler_ticks, std::uint64_t tick) noexcept;

  // The sampler is to run at base rate >> rate_shift() (period << rate_shift()); to be looked at after store() and
  // account(). Relaxed: a late look costs nothing but a sample at the old rate, whose weight is right.
  [[nodiscard]] std::uint32_t rate_shift() const noexcept { return shift_.load(std::memory_order_relaxed); }
  void set_rate_shift(std::uint32_t shift, SamplingCause cause, std::uint64_t tick) noexcept;
  // Another rate or period at shift 0, and another share: the user's. False: the store is in use at this moment.
  [[nodiscard]] bool set_base(double hertz, std::uint64_t period, double share, std::uint64_t tick) noexcept;

  // --- the other side: who sends ---

  // A bin ready to be sent but for the Sender's fields, or nullptr. seal: the current epoch's bins are wanted too, once
  // one of them is full or the epoch is older than age_ticks (0: in any case).
  [[nodiscard]] Bin* next_bin(bool seal, std::uint64_t age_ticks, std::uint64_t tick);
  // Drops the lowest level of the current epoch, to make room for others. How many bins came free.
  std::uint32_t make_room(std::uint64_t tick);
  // Bins that make_room() may work on.
  [[nodiscard]] std::uint32_t bins() const noexcept { return bins_.load(std::memory_order_relaxed); }
  // The changes of rate since the last call, at most `changes.size()`; how many.
  [[nodiscard]] std::size_t take_changes(std::span<SamplingDefinition> changes);

  // All that is held, at the end of the thread or of the recording: goes to next_bin().
  void flush(std::uint64_t tick);

  // All threads have died, maybe in here: what was being written then is given up.
  void force_unlock() noexcept;

  // Samples that store() took, and that found no room; of those taken some may have been dropped since.
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
  // The handler's own: what belongs to the next sample, undivided.
  struct Pending {
    std::uint64_t weight = 0, kernel = 0;
    std::array<std::uint64_t, kMaxCounters> counters{};
  } pending_;
  // Acquire and release: the handler and whoever sends see each other's work on all below. Never waited for.
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
