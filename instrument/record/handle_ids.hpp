// Numbers of MPI handles: communicators, windows and files of MPI-IO. A thread checks its own cache first. The
// generation changes when an object is created or freed: the cache is then stale and this table answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <unordered_map>

#include "blackboard/threads/mutex.hpp"

namespace ardoise::instrument {

// Handles of different kinds may be numerically equal; their keys differ. Files have two numbers: their own, and that
// of the communicator that opened them.
enum class HandleKind : std::uint64_t { kComm = 0, kWindow = 1, kFile = 2, kFileComm = 3 };
[[nodiscard]] constexpr std::uint64_t handle_key(HandleKind kind, std::uint64_t handle) {
  return handle ^ static_cast<std::uint64_t>(kind) << 62;
}

class HandleIds {
 public:
  void put(std::uint64_t key, std::uint32_t id) {
    const MutexLock guard(lock_);
    ids_[key] = id;
    next_generation();
  }
  void erase(std::uint64_t key) {
    const MutexLock guard(lock_);
    if (ids_.erase(key) != 0) next_generation();
  }
  // Returns `missing` for an unknown key.
  [[nodiscard]] std::uint32_t find(std::uint64_t key, std::uint32_t missing) {
    const MutexLock guard(lock_);
    const auto found = ids_.find(key);
    return found == ids_.end() ? missing : found->second;
  }
  // The same without waiting: returns `missing` also if another thread holds the lock.
  [[nodiscard]] std::uint32_t find_at_once(std::uint64_t key, std::uint32_t missing) noexcept {
    if (!lock_.try_lock()) return missing;
    const MutexLock guard(lock_, std::adopt_lock);
    const auto found = ids_.find(key);
    return found == ids_.end() ? missing : found->second;
  }
  // For use when all other threads have died, maybe inside this class.
  void force_unlock() { lock_.force_unlock(); }
  // Relaxed: a thread that uses a new handle got it from its creator, by the program's own synchronisation.
  [[nodiscard]] std::uint32_t generation() const { return generation_.load(std::memory_order_relaxed); }

 private:
  void next_generation() { generation_.fetch_add(1, std::memory_order_relaxed); }

  Mutex lock_;
  std::unordered_map<std::uint64_t, std::uint32_t> ids_ GUARDED_BY(lock_);
  std::atomic<std::uint32_t> generation_{1};  // 0 marks the cache of a new thread
};

}  // namespace ardoise::instrument
