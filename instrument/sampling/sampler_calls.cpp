// Counts ended calls by calling context: see sampler.hpp.
#include <memory>

#include "instrument/machine/clock.hpp"
#include "instrument/machine/shortest_batch.hpp"
#include "instrument/sampling/sampler.hpp"

namespace ardoise::instrument {

double Sampler::measure_call_cost(const ObservedFrame& frame) {
  if (settings_.mode == SampleMode::kOff) return 0;
  ContextBudget budget(CallingContexts::kMaxDepth);
  CallingContexts contexts(budget);
  const auto calls = std::make_unique<CallContexts>();
  if (!contexts.ready()) return 0;
  calls->add_new(frame, {}, {}, unwinder_, contexts);
  bool known = true;
  const double ticks = shortest_batch([&, begin = now()] {
    known = calls->add_known(frame, {1, begin, 0, 0}) && known;
  });
  return known ? ticks : 0;
}

void Sampler::count_call(SampledThread& thread, const ObservedFrame& frame, const CallSums& sums) noexcept {
  const ActivityScope scope(thread.recorder->activity, Activity::kContexts, running_);
  if (!scope.entered()) return;
  if (const auto* const interpreter = python::interpreter.load(std::memory_order_relaxed)) [[unlikely]] {
    ObservedFrame with_python = frame;
    with_python.python = interpreter->fingerprint(frame.function <= kPosixCalls);
    count_in_context(thread, with_python, sums);
  } else {
    count_in_context(thread, frame, sums);
  }
}

void Sampler::count_in_context(SampledThread& thread, const ObservedFrame& frame, const CallSums& sums) noexcept {
  if (unloading_.load(std::memory_order_acquire) != 0) [[unlikely]] {
    thread.calls.add_unknown(frame, sums);
  } else {
    if (thread.calls.add_known(frame, sums)) [[likely]]
      return;
    thread.calls.add_new(frame, sums, bounds_at(thread, frame.registers.sp), unwinder_, thread.contexts,
                         &thread.python);
  }
  if (thread.calls.must_drain()) [[unlikely]]
    context_sender_.send_call_sums(thread, true);
}

void Sampler::record_context(SampledThread& thread, const ObservedFrame& frame, std::uint64_t begin,
                             std::uint64_t end) noexcept {
  const std::uint32_t context = context_of(thread, frame);
  if (context == 0) return;
  const bool is_posix = frame.function > kPosixCalls;
  const auto pack_class = static_cast<std::uint16_t>(is_posix ? PackClass::kPosix : PackClass::kMpi);
  const auto function = static_cast<std::uint16_t>(frame.function - (is_posix ? kPosixCalls : 0) - 1);
  thread.recorder->add_context({begin, context, pack_class, function, 0, 0, kContextWord}, end);
}

// 0: unknown.
std::uint32_t Sampler::context_of(SampledThread& thread, const ObservedFrame& frame) noexcept {
  const ActivityScope scope(thread.recorder->activity, Activity::kContexts, running_);
  if (!scope.entered() || unloading_.load(std::memory_order_acquire) != 0) return 0;
  ObservedFrame whole = frame;
  if (const auto* const interpreter = python::interpreter.load(std::memory_order_relaxed))
    whole.python = interpreter->fingerprint(frame.function <= kPosixCalls);
  if (const auto known = thread.calls.find_known(whole)) return *known;
  const std::uint32_t context = thread.calls.add_new(whole, {}, bounds_at(thread, frame.registers.sp), unwinder_,
                                                     thread.contexts, &thread.python);
  if (thread.calls.must_drain()) [[unlikely]]
    context_sender_.send_call_sums(thread, true);
  return context;
}

}  // namespace ardoise::instrument
