// The receives whose requests the program holds: active ones, and persistent ones in any state. Maps the handle in a
// completing call to its posted receive. Thread safe.
//
// A handle that one thread saw completed may already be that of another thread's next receive before the first thread
// reports the completion. Among receives with equal handles a thread means its own, otherwise the oldest.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "blackboard/threads/mutex.hpp"

namespace ardoise::instrument {

struct PostedReceive {
  std::uint32_t stream = 0;  // of the thread that posted it
  std::uint64_t post = 0;    // its number in that thread
  bool has_wildcard = false;
  bool is_persistent = false;
  bool is_active = true;
  bool cancel_tried = false;
  int sender = -1;  // the forced sender, as a rank in the world
  // For forced persistent receives: the arguments for MPI_Start, and the request that was started instead.
  void* buffer = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::int32_t source = 0, tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request instead = MPI_REQUEST_NULL;
};

class RaceReceives {
 public:
  // True in the common case, which takes no lock.
  [[nodiscard]] bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }

  void add(std::uint64_t handle, const PostedReceive& receive) {
    const MutexLock guard(lock_);
    known_.emplace(handle, Known{receive, ++number_});
    size_.store(known_.size(), std::memory_order_relaxed);
  }
  [[nodiscard]] std::optional<PostedReceive> find(std::uint64_t handle, std::uint32_t stream) {
    if (empty()) return std::nullopt;
    const MutexLock guard(lock_);
    const auto found = meant(handle, stream);
    if (found == known_.end()) return std::nullopt;
    return found->second.receive;
  }
  // Calls change(PostedReceive&) under the lock. stream: of the calling thread. False: unknown.
  bool change(std::uint64_t handle, std::uint32_t stream, auto&& change) {
    if (empty()) return false;
    const MutexLock guard(lock_);
    const auto found = meant(handle, stream);
    if (found == known_.end()) return false;
    change(found->second.receive);
    return true;
  }
  // Marks it complete: removes it, or makes it inactive if it is persistent. Empty: unknown, or already inactive.
  [[nodiscard]] std::optional<PostedReceive> complete(std::uint64_t handle, std::uint32_t stream) {
    if (empty()) return std::nullopt;
    const MutexLock guard(lock_);
    const auto found = meant(handle, stream);
    if (found == known_.end() || !found->second.receive.is_active) return std::nullopt;
    const PostedReceive receive = found->second.receive;
    if (receive.is_persistent) {
      found->second.receive.is_active = found->second.receive.cancel_tried = false;
      found->second.receive.instead = MPI_REQUEST_NULL;
    } else {
      erase(found);
    }
    return receive;
  }
  [[nodiscard]] std::optional<PostedReceive> forget(std::uint64_t handle, std::uint32_t stream) {
    if (empty()) return std::nullopt;
    const MutexLock guard(lock_);
    const auto found = meant(handle, stream);
    if (found == known_.end()) return std::nullopt;
    const PostedReceive receive = found->second.receive;
    erase(found);
    return receive;
  }

 private:
  struct Known {
    PostedReceive receive;
    std::uint64_t number;  // in order of adding
  };
  using Map = std::unordered_multimap<std::uint64_t, Known>;
  Map::iterator meant(std::uint64_t handle, std::uint32_t stream) REQUIRES(lock_) {
    auto [best, end] = known_.equal_range(handle);
    if (best == end) return known_.end();
    for (auto each = best; each != end; ++each) {
      const bool is_own = each->second.receive.stream == stream, best_is_own = best->second.receive.stream == stream;
      if (is_own != best_is_own ? is_own : each->second.number < best->second.number) best = each;
    }
    return best;
  }
  void erase(Map::iterator which) REQUIRES(lock_) {
    known_.erase(which);
    size_.store(known_.size(), std::memory_order_relaxed);
  }

  std::atomic<std::size_t> size_ = 0;  // relaxed: a thread sees its own requests
  Mutex lock_;
  Map known_ GUARDED_BY(lock_);
  std::uint64_t number_ GUARDED_BY(lock_) = 0;
};

}  // namespace ardoise::instrument
