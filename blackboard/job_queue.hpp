// Where jobs wait for workers: an array of FIFOs, each with a lock for its two ends, pushed at random and swept from a
// random start (paper "online-analysis-server", figure 13), and an overflow list.
//
// A FIFO is a Boost.Lockfree ring of kCapacity jobs (spsc_queue): its two ends share nothing but the ring, and a
// try-lock on each end makes it one for many producers and consumers. Nobody ever waits for such a lock: who finds it
// taken goes to the next FIFO. boost::lockfree::queue, which needs no locks, takes five atomic read-modify-writes a job
// instead of three, reads nodes that another thread may be rewriting (a data race in C++ terms, and in the thread
// sanitizer's), and protects them by 16-bit tags only.
//
// When all FIFOs are full or held, jobs go to the overflow list: submit() never blocks, because a worker that waited
// for room would wait for itself. A job there costs 16 bytes and its entries' payloads count in Blackboard::bytes(), so
// that the list is bounded by who obeys the byte limit.
#pragma once

#include <atomic>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "blackboard/sharded.hpp"
#include "blackboard/source.hpp"

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

// Thread safety: push, pop and maybe_filled from all threads, each with a Random of its own.
class JobQueue {
 public:
  // With 0 FIFOs everything goes through the overflow list, in order.
  explicit JobQueue(unsigned fifos);

  void push(Job job, Random& random);
  // False: every FIFO was found empty or its end taken by another worker.
  [[nodiscard]] bool pop(Job& job, Random& random);
  // False only if no push that ended before the call (in the order of all seq_cst operations) left a job: for workers
  // that are about to sleep and have announced it.
  [[nodiscard]] bool maybe_filled() const noexcept;

 private:
  static constexpr std::size_t kCapacity = 1024;
  struct Fifo {
    alignas(kCacheLine) std::atomic<unsigned> producer{0};
    alignas(kCacheLine) std::atomic<unsigned> consumer{0};
    alignas(kCacheLine) boost::lockfree::spsc_queue<Job> ring{kCapacity};
  };
  [[nodiscard]] static bool try_push(Fifo& fifo, Job job);
  [[nodiscard]] static bool try_pop(Fifo& fifo, Job& job);
  void push_overflow(Job job);
  [[nodiscard]] bool pop_overflow(Job& job);

  std::vector<std::unique_ptr<Fifo>> fifos_;
  alignas(kCacheLine) std::atomic<std::size_t> overflow_size_{0};
  std::mutex overflow_mutex_;
  std::deque<Job> overflow_;
};

}  // namespace ardoise::blackboard
