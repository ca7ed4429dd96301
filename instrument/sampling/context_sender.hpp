// Submits what the sampler has counted for a thread: its contexts (kContexts), the sums of its calls (kContextTotals)
// and the totals of its samples (kSamplerTotals definition). Used by the Sampler, on slow paths.
#pragma once

#include <cstdint>

#include "instrument/record/recorder.hpp"
#include "instrument/sampling/sampled_thread.hpp"

namespace ardoise::instrument {

class ContextSender {
 public:
  explicit ContextSender(Recorder& recorder) : recorder_(recorder) {}

  // Both send as many as the pool's budget permits; `beyond_budget`: all, for contexts and sums that have no later
  // occasion.
  //
  // The contexts that were not sent yet. From any thread.
  void send_contexts(SampledThread& thread, bool beyond_budget);
  // The sums since the last time. The thread is in kContexts, or no other thread or handler uses its data.
  // Async-signal-safe.
  void send_call_sums(SampledThread& thread, bool beyond_budget) noexcept;

  // The counts of samples so far. From any thread.
  void define_totals(SampledThread& thread, std::uint64_t tick);

 private:
  Recorder& recorder_;
};

}  // namespace ardoise::instrument
