// The writer's side of the read domain.
#include "blackboard/read_domain.hpp"

#include <thread>

namespace ardoise::blackboard {

void ReadDomain::wait_for_readers() {
  fence_heavy();  // pairs with Section's
  for (const auto& line : turns_) {
    const std::atomic<std::uint64_t>& turn = line.cell;
    // acquire: after the reads of the section. Any other value than this one means that the section has ended.
    const std::uint64_t seen = turn.load(std::memory_order_acquire);
    if (seen % 2 == 0) continue;
    while (turn.load(std::memory_order_acquire) == seen) std::this_thread::yield();
  }
  const MutexLock after_shared_sections(shared_slot_);
}

}  // namespace ardoise::blackboard
