// Holds a SampledThread for its thread's handler or wrapper; see sampled_thread.hpp.
#pragma once

#include "instrument/sampling/sampler.hpp"

namespace ardoise::instrument {

class Sampler::Claim {
 public:
  Claim(SampledThread& thread, const std::atomic<bool>& running)
      : thread_(thread), nested_(thread.claimed.load(std::memory_order_relaxed)) {
    // As Section: the barrier is on the side of who waits; only the compiler must keep the order here.
    thread_.claimed.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    running_ = running.load(std::memory_order_acquire);
  }
  ~Claim() {
    if (!nested_) thread_.claimed.store(false, std::memory_order_release);
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  [[nodiscard]] bool running() const { return running_; }
  // The handler has interrupted a claim of its own thread.
  [[nodiscard]] bool nested() const { return nested_; }

 private:
  SampledThread& thread_;
  const bool nested_;
  bool running_;
};

}  // namespace ardoise::instrument
