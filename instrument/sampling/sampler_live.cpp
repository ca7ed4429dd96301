// Settings that change while the program runs. The control thread sets them; each thread follows in its signal handler.
// See sampler.hpp.
#include <algorithm>

#include "instrument/sampling/sampler.hpp"

namespace ardoise::instrument {

bool Sampler::set_live_rate(double hertz) noexcept {
  if (!running_.load(std::memory_order_relaxed) || trigger_.mode == SampleMode::kEvent) return false;
  if (const double limit = SampleTimer::limit_of(trigger_); limit != 0) hertz = std::min(hertz, limit);
  live_.hertz.store(hertz, std::memory_order_relaxed);
  live_.period.store(static_cast<std::uint64_t>(1e9 / hertz), std::memory_order_relaxed);
  live_.version.fetch_add(1, std::memory_order_release);
  return true;
}

bool Sampler::set_live_period(std::uint64_t period) noexcept {
  if (!running_.load(std::memory_order_relaxed) || trigger_.mode != SampleMode::kEvent) return false;
  live_.period.store(period, std::memory_order_relaxed);
  live_.version.fetch_add(1, std::memory_order_release);
  return true;
}

bool Sampler::set_live_share(double share) noexcept {
  if (!running_.load(std::memory_order_relaxed)) return false;
  live_.share.store(share, std::memory_order_relaxed);
  live_.version.fetch_add(1, std::memory_order_release);
  return true;
}

void Sampler::follow_live(SampledThread& thread, std::uint64_t tick) noexcept {
  const std::uint32_t version = live_.version.load(std::memory_order_acquire);
  const bool is_event = trigger_.mode == SampleMode::kEvent;
  if (thread.recorder->samples.set_base(live_.hertz.load(std::memory_order_relaxed), is_event ? base_period() : 0,
                                        live_.share.load(std::memory_order_relaxed), tick))
    thread.live_version = version;
}

}  // namespace ardoise::instrument
