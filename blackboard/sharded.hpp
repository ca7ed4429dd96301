// Counters that many threads change and few read: one cache line for each of a fixed number of shards, a thread always
// uses the same one. Used for the bytes of a board and the jobs a knowledge source has outstanding.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ardoise::blackboard {

inline constexpr std::size_t kCacheLine = 64;
inline constexpr unsigned kShards = 16;

// A small number that stays with the calling thread; threads beyond kShards share.
[[nodiscard]] unsigned this_thread_shard() noexcept;

// Thread safety: all functions may be called by all threads. A shard on its own means nothing and may be negative.
class ShardedCounter {
 public:
  // seq_cst: ByteAccount's wake-up protocol needs it, and on x86 a read-modify-write costs the same with any order.
  void add(std::int64_t amount) noexcept {
    shards_[this_thread_shard()].value.fetch_add(amount, std::memory_order_seq_cst);
  }
  // Exact when nothing changes meanwhile. While there are only subtractions it never reads too low, so that a 0 is
  // final.
  [[nodiscard]] std::int64_t sum() const noexcept {
    std::int64_t total = 0;
    // seq_cst: see add(); it includes acquire, so what a thread did before its add() is visible to who sees the sum.
    for (const Shard& shard : shards_) total += shard.value.load(std::memory_order_seq_cst);
    return total;
  }

 private:
  struct alignas(kCacheLine) Shard {
    std::atomic<std::int64_t> value{0};
  };
  std::array<Shard, kShards> shards_;
};

}  // namespace ardoise::blackboard
