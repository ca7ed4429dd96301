// The inline part of data_entry.hpp: the entry itself, its reference count, and entries that hold C++ values. Compiled
// into plug-ins, so a change of DataEntry's layout raises kPluginAbi.
//
//   ┌──────────── 64 bytes: DataEntry ────────────┬──── payload, aligned to 64 (own bytes or a value) ────┐
//   │ references type payload size dispose account │ elsewhere when the bytes were adopted                 │
//   └─────────────────────────────────────────────┴───────────────────────────────────────────────────────┘
#pragma once

#include <atomic>
#include <cstdint>
#include <new>

namespace ardoise::blackboard {

class ByteAccount;

// Thread safety: the reference count is atomic; all else is written before the entry is shared.
class alignas(64) DataEntry {
 public:
  using Dispose = void (*)(DataEntry& entry) noexcept;  // destroys payload and entry, frees the memory

  DataEntry(EntryType type, std::byte* data, std::size_t size, Dispose dispose) noexcept
      : type_(type), data_(data), size_(size), dispose_(dispose) {}
  DataEntry(const DataEntry&) = delete;
  DataEntry& operator=(const DataEntry&) = delete;

  [[nodiscard]] EntryType type() const noexcept { return type_; }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // relaxed: the copying thread already has a reference, so the entry is alive and visible.
  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    // The last reference needs no read-modify-write: no other thread can change the count. acquire: accesses of other
    // threads, before their acq_rel decrement, precede the destruction here.
    if (references_.load(std::memory_order_acquire) == 1 || references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      end();
    }
  }
  // acquire: a sole owner may write after the reads of threads that released their references.
  [[nodiscard]] std::uint32_t references() const noexcept { return references_.load(std::memory_order_acquire); }

  // Counts the payload on `account` until the entry ends; only the first account counts. Returns at once for an empty
  // payload.
  void charge_to(ByteAccount& account) noexcept;

  // The first reference of a new entry; and conversions to plain pointers, for containers that hold only those.
  [[nodiscard]] static EntryRef attach(DataEntry* entry) noexcept { return EntryRef(entry); }
  [[nodiscard]] static DataEntry* detach(EntryRef& reference) noexcept {
    return std::exchange(reference.entry_, nullptr);
  }
  [[nodiscard]] static DataEntry* get(const EntryRef& reference) noexcept { return reference.entry_; }

  // Memory for an entry followed by `payload` bytes; throws std::bad_alloc.
  [[nodiscard]] static void* allocate(std::size_t payload);
  static void deallocate(DataEntry& entry, std::size_t payload) noexcept;
  // Address of these bytes.
  [[nodiscard]] static std::byte* behind(void* entry) noexcept;

  // For adopted bytes.
  void (*release_function)(void* context, std::span<std::byte> payload) noexcept = nullptr;
  void* release_context = nullptr;

 private:
  void end() noexcept;

  std::atomic<std::uint32_t> references_{1};
  EntryType type_;
  std::byte* data_;
  std::size_t size_;
  Dispose dispose_;
  std::atomic<ByteAccount*> account_{nullptr};
};
static_assert(sizeof(DataEntry) == 64);

inline std::byte* DataEntry::behind(void* entry) noexcept { return static_cast<std::byte*>(entry) + sizeof(DataEntry); }

inline EntryRef::EntryRef(const EntryRef& other) noexcept : entry_(other.entry_) {
  if (entry_ != nullptr) entry_->retain();
}
inline EntryRef::~EntryRef() {
  if (entry_ != nullptr) entry_->release();
}
inline EntryType EntryRef::type() const noexcept { return entry_->type(); }
inline std::span<const std::byte> EntryRef::payload() const noexcept { return {entry_->data(), entry_->size()}; }
inline std::span<std::byte> EntryRef::writable() noexcept {
  if (entry_->references() != 1) return {};
  return {entry_->data(), entry_->size()};
}
inline std::size_t EntryRef::use_count() const noexcept { return entry_ == nullptr ? 0 : entry_->references(); }

template <class T>
EntryRef make_entry_of(EntryType type, T value) {
  static_assert(alignof(T) <= 64, "the payload of an entry is aligned to 64 bytes");
  void* const memory = DataEntry::allocate(sizeof(T));
  T* object;
  try {
    object = ::new (DataEntry::behind(memory)) T(std::move(value));
  } catch (...) {
    DataEntry::deallocate(*static_cast<DataEntry*>(memory), sizeof(T));
    throw;
  }
  return DataEntry::attach(
      ::new (memory) DataEntry(type, reinterpret_cast<std::byte*>(object), sizeof(T), [](DataEntry& entry) noexcept {
        std::launder(reinterpret_cast<T*>(entry.data()))->~T();
        DataEntry::deallocate(entry, sizeof(T));
      }));
}

}  // namespace ardoise::blackboard
