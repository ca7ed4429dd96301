// What threads that have ended leave to those that come: programs that start a thread for every small piece of work
// would else send four packs for each, and make and unmake its memory. A thread that begins soon after another one has
// ended goes on under its number, with its bins, contexts and sums, as the threads of a pool would. Score-P does the
// same with its locations.
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
  SampledThread* sampled = nullptr;  // nullptr: it was not
  std::uint64_t since = 0;           // tick
};

// From any thread.
class RestingThreads {
 public:
  // Bins that so many threads hold are not there for others.
  explicit RestingThreads(std::size_t most) : most_(most) { threads_.reserve(most); }

  // False: there are enough.
  [[nodiscard]] bool put(const RestingThread& thread) {
    const MutexLock guard(lock_);
    if (threads_.size() == most_) return false;
    threads_.push_back(thread);
    return true;
  }
  // The one that has rested least.
  [[nodiscard]] std::optional<RestingThread> take() {
    const MutexLock guard(lock_);
    if (threads_.empty()) return {};
    const RestingThread thread = threads_.back();
    threads_.pop_back();
    return thread;
  }
  // One that rests since `tick` or longer.
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
