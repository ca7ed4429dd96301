// Keeps the recorders of ended threads for new ones. Programs that start a thread for every small piece of work would
// otherwise send four packs for each, and allocate and free its memory. A thread that begins soon after another one
// ended takes over its number, bins, contexts and sums, like a thread of a pool. Score-P does the same with its
// locations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "blackboard/threads/mutex.hpp"
#include "instrument/record/thread_recorder.hpp"
#include "instrument/sampling/sampled_thread.hpp"

namespace ardoise::instrument {

struct RestingThread {
  ThreadRecorder* recorder = nullptr;
  SampledThread* sampled = nullptr;  // nullptr: not sampled
  std::uint64_t since = 0;           // tick
};

// Any thread may call.
class RestingThreads {
 public:
  // Kept recorders hold bins that other threads cannot use.
  explicit RestingThreads(std::size_t most) : most_(most) { threads_.reserve(most); }

  // False: the limit is reached.
  [[nodiscard]] bool put(const RestingThread& thread) {
    const MutexLock guard(lock_);
    if (threads_.size() == most_) return false;
    threads_.push_back(thread);
    return true;
  }
  // The one that ended last.
  [[nodiscard]] std::optional<RestingThread> take() {
    const MutexLock guard(lock_);
    if (threads_.empty()) return {};
    const RestingThread thread = threads_.back();
    threads_.pop_back();
    return thread;
  }
  // One that ended at `tick` or earlier.
  [[nodiscard]] std::optional<RestingThread> take_old(std::uint64_t tick) {
    const MutexLock guard(lock_);
    if (threads_.empty() || threads_.front().since > tick) return {};
    const RestingThread thread = threads_.front();
    threads_.erase(threads_.begin());
    return thread;
  }

 private:
  const std::size_t most_;
  Mutex lock_;
  std::vector<RestingThread> threads_ GUARDED_BY(lock_);  // in the order of their ends
};

}  // namespace ardoise::instrument
