// Creation of entries, charging them to a board, and their end.
#include "blackboard/data_entry.hpp"

#include "blackboard/block_pool.hpp"
#include "blackboard/byte_account.hpp"

namespace ardoise::blackboard {

void* DataEntry::allocate(std::size_t payload) { return allocate_block(sizeof(DataEntry) + payload); }

void DataEntry::deallocate(DataEntry& entry, std::size_t payload) noexcept {
  release_block(&entry, sizeof(DataEntry) + payload);
}

void DataEntry::charge_to(ByteAccount& account) noexcept {
  if (size_ == 0) return;
  // relaxed: account_ orders nothing; the thread that ends the entry reads it after the last release().
  if (account_.load(std::memory_order_relaxed) != nullptr) return;
  if (references() == 1) {
    account_.store(&account, std::memory_order_relaxed);
  } else if (ByteAccount* none = nullptr;
             !account_.compare_exchange_strong(none, &account, std::memory_order_relaxed)) {
    return;  // another thread submitted it concurrently
  }
  account.charge(size_);
}

void DataEntry::end() noexcept {
  ByteAccount* const account = account_.load(std::memory_order_relaxed);
  const std::size_t bytes = size_;
  dispose_(*this);
  // Last, so that bytes no longer counted have been freed.
  if (account != nullptr) account->discharge(bytes);
}

EntryRef make_entry(EntryType type, std::size_t size) {
  void* const memory = DataEntry::allocate(size);
  return DataEntry::attach(new (memory) DataEntry(type, DataEntry::behind(memory), size, [](DataEntry& entry) noexcept {
    DataEntry::deallocate(entry, entry.size());
  }));
}

EntryRef adopt_entry(EntryType type, std::span<std::byte> payload, ReleaseFunction release, void* context) {
  void* const memory = DataEntry::allocate(0);
  auto* const entry = new (memory) DataEntry(type, payload.data(), payload.size(), [](DataEntry& ending) noexcept {
    if (ending.release_function != nullptr) {
      ending.release_function(ending.release_context, {ending.data(), ending.size()});
    }
    DataEntry::deallocate(ending, 0);
  });
  entry->release_function = release;
  entry->release_context = context;
  return DataEntry::attach(entry);
}

}  // namespace ardoise::blackboard
