// Read sections for data read on every submit and replaced rarely: the sensitivity table. A reader announces itself
// with a plain store in a cell of its own; a writer publishes the new version, then waits until no reader can still
// hold the old one. This is user-space RCU (Desnoyers et al., IEEE TPDS 2012) in its membarrier variant.
//
// Why not std::atomic<std::shared_ptr>: in libstdc++ 12 its load locks a bit of the pointer and changes the shared
// count, contended lines on every submit. Why not std::shared_mutex, even sharded: at best two read-modify-writes a
// section, and readers can starve the writer.
#pragma once

#include <atomic>

#include "blackboard/asymmetric_fence.hpp"
#include "blackboard/thread_slot.hpp"
#include "blackboard/threads/mutex.hpp"

namespace ardoise::blackboard {

// Thread safety: sections on any thread, one at a time on each; wait_for_readers() on any thread outside of sections. A
// section must be short and must not wait for a writer.
class ReadDomain {
 public:
  class Section {
   public:
    explicit Section(ReadDomain& domain) noexcept : domain_(domain), slot_(this_thread_slot()) {
      if (!slot_.own()) {
        domain_.shared_slot_.lock();
        return;
      }
      std::atomic<std::uint64_t>& turn = domain_.turns_[slot_];
      turn.store(turn.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      // Before the load of the table: either the writer sees this section, or the section sees the writer's table.
      fence_light();
    }
    ~Section() {
      if (!slot_.own()) {
        domain_.shared_slot_.unlock();
        return;
      }
      std::atomic<std::uint64_t>& turn = domain_.turns_[slot_];
      // release: the reads precede the end of the section as seen by the writer.
      turn.store(turn.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

   private:
    ReadDomain& domain_;
    const ThreadSlot slot_;
  };

  // Returns when every section that may have begun before the call has ended.
  void wait_for_readers();

 private:
  PerSlot<std::atomic<std::uint64_t>> turns_;  // odd: in a section
  Mutex shared_slot_;                          // held in sections of threads without a slot of their own
};

}  // namespace ardoise::blackboard
