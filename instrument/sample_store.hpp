// Where the samples of one thread go. The thread's own signal handler stores, everything here is async-signal-safe:
// no lock is waited for, nothing is allocated.
//
//   sampler's handler ──store()──▶ bins by level ──▶ epoch ──▶ Sender            (docs/instrument.md, "Samples")
//
// A thread numbers its samples 1, 2, …; the level of a sample is the number of trailing zeros of its number, so the
// levels above l hold every 2^(l+1)th sample. An *epoch* is a run of consecutive samples. While none of its bins was
// sent, its lowest level can be dropped: bins go back in O(bins), and every remaining sample stands for twice as much.
// What an epoch kept when its first bin was sent is what its packs declare as weight.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "instrument/definitions.hpp"
#include "instrument/event_format.hpp"

namespace ardoise::instrument {

struct SamplingPlan {
  double base_hertz = 0;            // rate at shift 0; 0: an event is sampled
  std::uint64_t base_period = 0;    // occurrences of the sampled event for each sample at shift 0
  std::uint32_t counter_count = 0;  // at most kMaxCounters
  double share = 0.01;              // of the thread's time that sampling may cost; 0: without limit
};

enum class Stored {
  kStored,
  kClosed,  // its level is not kept: other samples stand for it
  kNoRoom,  // no bin: its weight goes to the thread's next sample that is stored
};

class SampleStore {
 public:
  // By the thread before its first sample, and again when the plan changes; not while a handler may store.
  void start(const SamplingPlan& plan, std::uint64_t tick) noexcept;

  // In the thread's handler only. `level` of the record is set here. counters.size() == plan.counter_count.
  // `weight`: ns or events since the thread's sample before, divided by 2^rate_shift(), so that weight × the pack's
  // weight is what the sample stands for.
  Stored store(const SampleRecord& sample, std::span<const std::uint64_t> counters) noexcept;

  // At the end of the handler: what this sample cost. Drives the rate by cost, and its rise.
  void account(std::uint64_t handler_ticks, std::uint64_t tick) noexcept;

  // The sampler is to run at base rate >> rate_shift() (period << rate_shift()); looked at after each store().
  [[nodiscard]] std::uint32_t rate_shift() const noexcept { return shift_.load(std::memory_order_relaxed); }
  // Another rate for another reason (kUser, kEvent, kCost): from this sample on. In the handler or before it runs.
  void set_rate_shift(std::uint32_t shift, SamplingCause cause, std::uint64_t tick) noexcept;

 private:
  std::atomic<std::uint32_t> shift_ = 0;  // relaxed: written in the thread's handler, others only look
};

}  // namespace ardoise::instrument
