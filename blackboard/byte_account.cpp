// Creation of accounts, and waiting for bytes to be released.
#include "blackboard/byte_account.hpp"

#include <algorithm>
#include <forward_list>

namespace ardoise::blackboard {

ByteAccount* ByteAccount::open(std::size_t limit) {
  // Never destroyed: entries may be released after static destructors ran.
  static auto* const accounts = new std::forward_list<ByteAccount>;
  static auto* const mutex = new Mutex;
  const MutexLock lock(*mutex);
  return &accounts->emplace_front(limit);
}

std::size_t ByteAccount::bytes() const noexcept {
  // While cells change, the sum may be off by the changes, even below 0, when an entry is charged in one cell and
  // discharged in another.
  return static_cast<std::size_t>(std::max<std::int64_t>(0, bytes_.sum()));
}

bool ByteAccount::wait_below_limit(std::chrono::milliseconds timeout) {
  if (!over_limit()) return true;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const MutexLock lock(mutex_);
  waiters_.fetch_add(1, std::memory_order_relaxed);
  fence_heavy();  // pairs with discharge()'s
  bool in_time = true;
  while (in_time && over_limit()) in_time = below_.wait_until(lock, deadline);
  waiters_.fetch_sub(1, std::memory_order_relaxed);  // a discharge that still sees it notifies in vain
  return !over_limit();
}

void ByteAccount::wake() noexcept {
  // Summed under the lock: when several threads discharge concurrently, the last one here sees all of them.
  const MutexLock lock(mutex_);
  if (!over_limit()) below_.notify_all();
}

}  // namespace ardoise::blackboard
