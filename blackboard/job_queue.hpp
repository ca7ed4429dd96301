// Where jobs wait for workers: an array of FIFOs swept from a random start (paper "online-analysis-server", figure 13),
// and an overflow list.
//
//   operation on worker w ──▶ home FIFO w ───────────▶ worker w, in order; other workers when w does not keep up
//   any other thread ───────▶ a random shared FIFO ──▶ whichever worker sweeps by
//   both, when full ────────▶ overflow list ─────────▶ whichever worker sweeps by
//
// A FIFO is a Boost.Lockfree ring (spsc_queue) with a try-lock at its consumers' end, the shared ones also at the
// producers' end; no thread waits for them: if one is taken, it goes to the next FIFO. The paper pushes every job at
// random; jobs that operations bring about stay with their worker here, where the entries are still in the cache: with
// two workers and empty jobs that is several times faster. A worker with nothing at home takes up to half of what it
// finds elsewhere, at once.
// Why not boost::lockfree::queue: five atomic read-modify-writes a job where this takes one or two (a push and a pop,
// one thread: 26 ns, this 6 at home and 11 when shared), it reads nodes that another thread may be rewriting (a data
// race in C++ terms and for the thread sanitizer), and only 16-bit tags protect it from mistaking a reused node for the
// old one.
//
// When the FIFOs are full, jobs go to the overflow list: submit() never blocks, because a worker that waited for room
// would wait for itself. A job there costs 16 bytes and its entries' payloads count in Blackboard::bytes(), so
// the list is bounded by submitters that obey the byte limit.
#pragma once

#include <atomic>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "blackboard/source.hpp"
#include "blackboard/thread_slot.hpp"
#include "blackboard/threads/mutex.hpp"

namespace ardoise::blackboard {

// xorshift64*: where to push and where to start a sweep.
class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) noexcept : state_(seed * 0x9e3779b97f4a7c15u | 1u) {}
  std::uint32_t operator()() noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>((state_ * 0x2545f4914f6cdd1du) >> 32);
  }

 private:
  std::uint64_t state_;
};

// Thread safety: push and maybe_filled from all threads; push_home and pop from the worker that owns the Hand.
class JobQueue {
 public:
  // What a worker remembers between two calls.
  struct Hand {
    explicit Hand(unsigned home_) : home(home_), random(home_ + 1u) {}
    const unsigned home;  // 0 … workers-1
    Random random;
    std::uint32_t pops = 0;
    bool brought_home = false;              // pop() moved jobs to the home FIFO that other workers could take
    std::vector<std::uint32_t> last_turns;  // of the other homes, when this worker last looked
  };

  // With 0 workers everything goes through the overflow list, in order.
  explicit JobQueue(unsigned workers);

  // noexcept: a process without memory for 16 bytes ends; with a job lost no drain() would.
  void push(Job job, Random& random) noexcept;
  void push_home(Job job, Hand& hand) noexcept;

  // False: nothing at home, and elsewhere nothing, or only what others are just taking or will soon get done.
  [[nodiscard]] bool pop(Job& job, Hand& hand);

  // False only if there was no job at some moment of the call; jobs pushed before a fence_light() that came before the
  // caller's last fence_heavy() are seen.
  [[nodiscard]] bool maybe_filled() const noexcept;

 private:
  static constexpr std::size_t kCapacity = 1024;
  static constexpr std::size_t kMostTaken = 16;  // jobs, at once, from elsewhere
  // A worker that takes jobs from its home, and has not more than this there, is left alone.
  static constexpr std::size_t kPlenty = 32;
  // Each such pop looks elsewhere first, so that no self-sustaining home starves what others brought.
  static constexpr std::uint32_t kFairTurn = 32;

  struct Fifo {
    // Consumers' try-lock: odd while held, changed with every take: shows whether jobs are being taken.
    alignas(kCacheLine) std::atomic<std::uint32_t> turn{0};
    alignas(kCacheLine) std::atomic<bool> producing{false};  // producers' try-lock, of shared FIFOs
    alignas(kCacheLine) boost::lockfree::spsc_queue<Job> ring{kCapacity};
  };

  [[nodiscard]] static bool push_shared(Fifo& fifo, Job job);
  [[nodiscard]] static std::size_t take(Fifo& fifo, Job* jobs, std::size_t most);
  [[nodiscard]] bool sweep(Job& job, Hand& hand, std::size_t places);
  [[nodiscard]] bool take_share(Fifo& fifo, Job& job, Hand& hand);
  [[nodiscard]] bool owner_keeps_up(unsigned home, Hand& hand);
  void push_overflow(Job job);
  [[nodiscard]] bool pop_overflow(Job& job);

  std::vector<std::unique_ptr<Fifo>> shared_;
  std::vector<std::unique_ptr<Fifo>> homes_;
  alignas(kCacheLine) std::atomic<std::size_t> overflow_size_{0};  // overflow_.size(), for reading without the lock
  Mutex overflow_mutex_;
  std::deque<Job> overflow_ GUARDED_BY(overflow_mutex_);
};

}  // namespace ardoise::blackboard
