// A data entry {type, size, payload} and its counted reference. Shared entries are read-only; a sole owner may write
// (EntryRef::writable). An entry owns its bytes, holds a C++ value, or refers to foreign memory (a stream's block),
// which a release function returns after the last reference is released, on any thread.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "blackboard/entry_type.hpp"

namespace ardoise::blackboard {

class DataEntry;

class EntryRef {
 public:
  EntryRef() = default;
  EntryRef(const EntryRef& other) noexcept;
  EntryRef(EntryRef&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  EntryRef& operator=(EntryRef other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~EntryRef();

  explicit operator bool() const noexcept { return entry_ != nullptr; }
  [[nodiscard]] EntryType type() const noexcept;
  [[nodiscard]] std::span<const std::byte> payload() const noexcept;
  // The payload for writing, or an empty span when there are other references.
  [[nodiscard]] std::span<std::byte> writable() noexcept;
  [[nodiscard]] std::size_t use_count() const noexcept;

  // The payload as the value it was created from (make_entry_of<T>). Undefined for another T.
  template <class T>
  [[nodiscard]] const T& as() const noexcept {
    return *reinterpret_cast<const T*>(payload().data());
  }

 private:
  friend class DataEntry;
  explicit EntryRef(DataEntry* entry) noexcept : entry_(entry) {}
  DataEntry* entry_ = nullptr;
};

// An entry with `size` bytes of its own, uninitialised, aligned to 64.
[[nodiscard]] EntryRef make_entry(EntryType type, std::size_t size);

// Refers to `payload`, which stays valid until release(context, payload) is called, exactly once.
using ReleaseFunction = void (*)(void* context, std::span<std::byte> payload) noexcept;
[[nodiscard]] EntryRef adopt_entry(EntryType type, std::span<std::byte> payload, ReleaseFunction release,
                                   void* context);

// Holds a value, destroyed with the last reference. For spans into another entry, T keeps an EntryRef to that entry.
template <class T>
[[nodiscard]] EntryRef make_entry_of(EntryType type, T value);

}  // namespace ardoise::blackboard

#include "blackboard/data_entry_inl.hpp"
