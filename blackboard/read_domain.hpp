// Read sections for data that is read on every submit and replaced almost never: the sensitivity table. A reader
// announces itself in a cache line of its own; a writer publishes the new version and then waits until nobody can still
// hold the old one. This is sleepable RCU (McKenney 2006: two counters a slot and a phase) with one slot a thread.
//
// Why not std::atomic<std::shared_ptr>: in libstdc++ 12 its load takes a spin bit in the pointer itself and changes the
// shared count, two contended lines on every submit. Why not std::shared_mutex, even sharded: its lock and unlock cost
// about three times these two increments, and it lets readers starve the writer.
#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include "blackboard/sharded.hpp"

namespace ardoise::blackboard {

// Thread safety: read sections on any thread, also nested; wait_for_readers() on any thread outside of a read section.
// A section must be short and must not wait for a writer.
class ReadDomain {
 public:
  class Section {
   public:
    explicit Section(ReadDomain& domain) noexcept
        : counter_(domain.slots_[this_thread_shard()].readers[domain.phase_.load(std::memory_order_relaxed)]) {
      // seq_cst: ordered before the load of the table pointer, which is seq_cst too. A writer that saw 0 here published
      // before, so that this reader finds the new version. phase_ may be relaxed: the writer looks at both counters.
      counter_.fetch_add(1, std::memory_order_seq_cst);
    }
    // release: what was read is read before the writer sees the section closed.
    ~Section() { counter_.fetch_sub(1, std::memory_order_release); }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

   private:
    std::atomic<unsigned>& counter_;
  };

  // Returns when every section that began before the call has ended.
  void wait_for_readers();

 private:
  struct alignas(kCacheLine) Slot {
    std::array<std::atomic<unsigned>, 2> readers{};
  };
  std::array<Slot, kShards> slots_;
  alignas(kCacheLine) std::atomic<unsigned> phase_{0};
  std::mutex writers_;
};

}  // namespace ardoise::blackboard
