// Assignment of slots to threads.
#include "blackboard/thread_slot.hpp"

#include <bit>

#include "blackboard/threads/mutex.hpp"

namespace ardoise::blackboard {
namespace {

static_assert(kOwnSlots < 32);

// The lock also orders consecutive owners of a slot.
constinit Mutex mutex;
constinit std::uint32_t taken GUARDED_BY(mutex) = 0;

struct SlotHolder {
  ~SlotHolder() {
    const MutexLock lock(mutex);
    if (detail::slot_of_thread < kOwnSlots) taken &= ~(1u << detail::slot_of_thread);
    detail::slot_of_thread = kOwnSlots;  // later destructors of this thread use the shared slot
  }
};

}  // namespace

unsigned detail::assign_slot() noexcept {
  static thread_local SlotHolder holder;
  static_cast<void>(holder);
  const MutexLock lock(mutex);
  const auto free = static_cast<unsigned>(std::countr_one(taken));
  slot_of_thread = free < kOwnSlots ? free : kOwnSlots;
  if (free < kOwnSlots) taken |= 1u << free;
  return slot_of_thread;
}

}  // namespace ardoise::blackboard
