// The life of a sampler, from its construction to its end, and the periodic flush: see sampler.hpp.
#include "instrument/sampling/sampler.hpp"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <utility>

#include "blackboard/threads/thread_barrier.hpp"
#include "instrument/machine/clock.hpp"

namespace ardoise::instrument {
namespace {

// Contexts of all threads together take at most about 1 MiB: 16 bytes a node, 8 to 16 of index.
constexpr std::uint32_t kContextBudget = 32768;

bool uses_contexts(const SampledThread& thread) {
  const Activity activity = thread.recorder->activity.load(std::memory_order_acquire);
  return activity == Activity::kContexts || activity == Activity::kSampling;
}

}  // namespace

Sampler::Sampler(Recorder& recorder, const SamplerSettings& settings, double ticks_per_second,
                 void (*say)(std::string_view))
    : recorder_(recorder),
      context_sender_(recorder),
      settings_(settings),
      ticks_per_second_(ticks_per_second),
      say_(say),
      context_budget_(kContextBudget) {}

Sampler::~Sampler() {
  stop();
  if (std::find(threads_.begin(), threads_.end(), current_sampled) != threads_.end()) current_sampled = nullptr;
  while (!threads_.empty()) release(threads_.back());
  Sampler* self = this;
  if (sampler.compare_exchange_strong(self, nullptr)) ::sigaction(trigger_.signal, &before_, nullptr);
}

void Sampler::say_once(std::atomic_flag& said, std::string_view sentence) {
  if (!said.test_and_set(std::memory_order_relaxed)) say_(sentence);
}

void Sampler::flush(SampledThread& thread) {
  {
    const ActivityScope scope(thread.recorder->activity, Activity::kContexts, running_);
    if (!scope.entered()) return;
    context_sender_.send_call_sums(thread, false);
  }
  reap();
  watch_modules();
  // Also for threads that only compute. No thread ends meanwhile: release() takes the lock. Only tried, since its
  // holder does the same work and may wait for the loader.
  if (!lock_.try_lock()) return;
  const MutexLock guard(lock_, std::adopt_lock);
  const std::uint64_t tick = now();
  for (SampledThread* each : threads_) {
    context_sender_.send_contexts(*each, false);
    context_sender_.define_totals(*each, tick);
  }
}

void Sampler::wait_until_unused() noexcept {
  blackboard::barrier_in_all_threads();
  const MutexLock guard(lock_);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (const SampledThread* thread : threads_) {
    // Acquire pairs with the release of ~ActivityScope. A thread that ended meanwhile is outside.
    while (uses_contexts(*thread) && std::chrono::steady_clock::now() < deadline) {
      ::sched_yield();
    }
  }
}

void Sampler::stop() noexcept {
  if (!running_.exchange(false, std::memory_order_acq_rel)) return;
  wait_until_unused();
  const MutexLock guard(lock_);
  finished_ = true;
  for (SampledThread* thread : threads_) {
    if (thread == current_sampled) store_remaining_kernel_time(*thread);
    thread->timer.stop();
    thread->counters.close();
  }
  // The handler stays: a signal may still be pending, and its default action ends the process.
}

void Sampler::finish(std::uint64_t tick) {
  const MutexLock guard(lock_);
  for (SampledThread* thread : threads_) {
    if (uses_contexts(*thread)) continue;  // it did not leave in time
    context_sender_.send_call_sums(*thread, true);
    context_sender_.send_contexts(*thread, true);
    context_sender_.define_totals(*thread, tick);
  }
}

void Sampler::force_unlock() noexcept {
  running_.store(false, std::memory_order_relaxed);
  lock_.force_unlock();
  const MutexLock guard(lock_);
  for (SampledThread* thread : threads_) thread->send_lock.force_unlock();
}

void Sampler::signal_was_taken() noexcept {
  if (!running_.load(std::memory_order_acquire)) return;
  stop();
  std::array<char, 96> text;  // the caller may be a handler that interrupted the allocator
  const auto said = fmt::format_to_n(text.data(), text.size(), "the program uses signal {} itself; sampling ends here.",
                                     trigger_.signal);
  say_({text.data(), std::min(said.size, text.size())});
}

void Sampler::abandon() noexcept {
  running_.store(false, std::memory_order_release);
  current_sampled = nullptr;
  observed_frame.function = 0;
  sampler.store(nullptr, std::memory_order_release);
  ::sigaction(trigger_.signal, &before_, nullptr);
}

}  // namespace ardoise::instrument
