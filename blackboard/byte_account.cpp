// Waiting for bytes to go, and the reuse of accounts.
#include "blackboard/byte_account.hpp"

#include <algorithm>
#include <vector>

namespace ardoise::blackboard {
namespace {

struct Retired {
  Mutex mutex;
  std::vector<ByteAccount*> accounts GUARDED_BY(mutex);
};

// Never destroyed: entries may go after static destructors ran.
Retired& retired() {
  static auto* const list = new Retired;
  return *list;
}

}  // namespace

ByteAccount* ByteAccount::open(std::size_t limit) {
  ByteAccount* account = nullptr;
  {
    Retired& list = retired();
    const MutexLock lock(list.mutex);
    // Retired accounts see only subtractions, so a sum of 0 is final (SlotCounter::sum).
    const auto idle = std::find_if(list.accounts.begin(), list.accounts.end(),
                                   [](const ByteAccount* candidate) { return candidate->bytes_.sum() == 0; });
    if (idle != list.accounts.end()) {
      account = *idle;
      list.accounts.erase(idle);
    }
    // Room for this account, so that retire() need not allocate.
    list.accounts.reserve(list.accounts.size() + 16);
  }
  if (account == nullptr) account = new ByteAccount;
  account->limit_ = limit;
  return account;
}

void ByteAccount::retire(ByteAccount* account) noexcept {
  Retired& list = retired();
  const MutexLock lock(list.mutex);
  list.accounts.push_back(account);
}

std::size_t ByteAccount::bytes() const noexcept {
  // The sum of moving cells may be off by what moves, even below 0, when an entry is charged in one and discharged in
  // another.
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
  waiters_.fetch_sub(1, std::memory_order_relaxed);  // a discharge that still sees it notifies no thread
  return !over_limit();
}

void ByteAccount::wake() noexcept {
  // The sum under the lock: of several threads that let bytes go at the same moment, the last one here sees them all
  // gone.
  const MutexLock lock(mutex_);
  if (!over_limit()) below_.notify_all();
}

}  // namespace ardoise::blackboard
