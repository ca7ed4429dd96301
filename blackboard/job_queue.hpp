// The queue of jobs: several FIFOs swept from a random start (paper "online-analysis-server", figure 13), and an
// overflow list.
//
//   operation on worker w ──▶ home FIFO w ───────────▶ worker w, in order; other workers when w does not keep up
//   any other thread ───────▶ a random shared FIFO ──▶ any worker that sweeps it
//   both, when full ────────▶ overflow list ─────────▶ any worker that sweeps it
//
// A FIFO is a Boost.Lockfree ring (spsc_queue) with a try-lock for consumers, shared FIFOs also with one for producers.
// Threads never wait for them: they try the next FIFO. The paper pushes every job at random; here jobs created by
// operations stay on their worker, where the entries are in the cache: with two workers and empty jobs that is several
// times faster. A worker whose home FIFO is empty steals up to half of another FIFO at once.
// Why not boost::lockfree::queue: it needs five atomic read-modify-writes a job instead of one or two (a push and a pop
// on one thread: 26 ns, here 6 at home and 11 when shared), reads nodes that another thread may be rewriting (a data
// race in C++ and for the thread sanitizer), and has only 16-bit tags against ABA.
//
// When the FIFOs are full, jobs go to the overflow list: submit() never blocks, because a worker that waited for room
// would wait for itself. A job there costs 16 bytes, and payloads of its entries count in Blackboard::bytes(), so
// submitters that obey the byte limit bound the list.
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

// xorshift64*: selects where to push and where to start a sweep.
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
  // State of a worker between calls.
  struct Hand {
    explicit Hand(unsigned home_) : home(home_), random(home_ + 1u) {}
    const unsigned home;  // 0 … workers-1
    Random random;
    std::uint32_t pops = 0;
    bool brought_home = false;              // pop() moved jobs to the home FIFO, where other workers can take them
    std::vector<std::uint32_t> last_turns;  // turns of the other home FIFOs at this worker's last look
  };

  // With 0 workers all jobs go through the overflow list, in order.
  explicit JobQueue(unsigned workers);

  // noexcept: without memory for 16 bytes the process ends, because drain() would never return after a lost job.
  void push(Job job, Random& random) noexcept;
  void push_home(Job job, Hand& hand) noexcept;

  // False: the home FIFO is empty, and the other FIFOs are empty, locked, or served in time by their owners.
  [[nodiscard]] bool pop(Job& job, Hand& hand);

  // False only if the queue was empty at some moment of the call; jobs pushed before a fence_light() that preceded the
  // caller's last fence_heavy() are seen.
  [[nodiscard]] bool maybe_filled() const noexcept;

 private:
  static constexpr std::size_t kCapacity = 1024;
  static constexpr std::size_t kMostTaken = 16;  // jobs stolen at once
  // A worker that takes jobs from its home FIFO is not stolen from up to this number of queued jobs.
  static constexpr std::size_t kPlenty = 32;
  // Every kFairTurn-th pop searches elsewhere first, so that a self-sustaining home FIFO starves no other.
  static constexpr std::uint32_t kFairTurn = 32;

  struct Fifo {
    // Consumers' try-lock: odd while held, changed by every take, so that others see whether jobs are being taken.
    alignas(kCacheLine) std::atomic<std::uint32_t> turn{0};
    alignas(kCacheLine) std::atomic<bool> producing{false};  // producers' try-lock of shared FIFOs
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
  alignas(kCacheLine) std::atomic<std::size_t> overflow_size_{0};  // overflow_.size(), readable without the lock
  Mutex overflow_mutex_;
  std::deque<Job> overflow_ GUARDED_BY(overflow_mutex_);
};

}  // namespace ardoise::blackboard
