// The writer's side of the read domain.
#include "blackboard/read_domain.hpp"

#include <thread>

namespace ardoise::blackboard {

void ReadDomain::wait_for_readers() {
  const std::lock_guard lock(writers_);
  // Twice: a reader that took the phase just before a change may count itself on the side that was already found empty;
  // the second turn looks at that side again. After the change nobody new comes to the side that is waited for, so this
  // ends.
  for (int turn = 0; turn < 2; ++turn) {
    const unsigned old = phase_.load(std::memory_order_relaxed);
    phase_.store(1 - old, std::memory_order_seq_cst);
    for (Slot& slot : slots_) {
      // seq_cst: after the table was published, before it is reclaimed; see Section. It includes acquire.
      while (slot.readers[old].load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
    }
  }
}

}  // namespace ardoise::blackboard
