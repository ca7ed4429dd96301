// Reads memory that may be unmapped: each page is checked before its first read, once per object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "instrument/unwind/readable.hpp"

namespace ardoise::instrument::python {

class CheckedMemory {
 public:
  // False: some of it cannot be read.
  bool copy(std::uint64_t address, void* to, std::size_t bytes) noexcept {
    if (address < kPage || address + bytes < address) return false;
    for (std::uint64_t page = address & ~(kPage - 1); page < address + bytes; page += kPage) {
      if (!is_good(page)) return false;
    }
    std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
    return true;
  }
  void forget() noexcept { good_ = {}; }
  template <class T>
  bool read(std::uint64_t address, T& value) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return copy(address, &value, sizeof(T));
  }

 private:
  static constexpr std::uint64_t kPage = 4096;  // the smallest page size
  bool is_good(std::uint64_t page) noexcept {
    std::uint64_t& known = good_[page / kPage % good_.size()];
    if (known == page) return true;
    if (!is_readable(page)) return false;
    known = page;
    return true;
  }
  std::array<std::uint64_t, 32> good_{};
};

// While it exists, reads of this thread share what was checked in this call, and in others shortly before: Python's
// live frames stay mapped, and the check is for the moments at which a frame begins or ends.
class CheckedOnce {
 public:
  explicit CheckedOnce(std::uint64_t tick) noexcept : outer_(memory_of_call) {
    constexpr std::uint64_t kShortly = std::uint64_t{1} << 17;  // ticks; 50 us at 2.6 GHz
    if (tick - checked_since > kShortly) {
      checked.forget();
      checked_since = tick;
    }
    memory_of_call = &checked;
  }
  ~CheckedOnce() { memory_of_call = outer_; }
  CheckedOnce(const CheckedOnce&) = delete;
  CheckedOnce& operator=(const CheckedOnce&) = delete;

  // nullptr: there is none. A signal handler may use that of the call it interrupted.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local CheckedMemory* memory_of_call;

 private:
  [[gnu::tls_model("initial-exec")]] static constinit thread_local CheckedMemory checked;
  [[gnu::tls_model("initial-exec")]] static constinit thread_local std::uint64_t checked_since;
  CheckedMemory* const outer_;
};

// The same without checks, for memory that the thread itself keeps alive.
class OwnMemory {
 public:
  bool copy(std::uint64_t address, void* to, std::size_t bytes) noexcept {
    if (address == 0) return false;
    std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
    return true;
  }
  template <class T>
  bool read(std::uint64_t address, T& value) noexcept {
    return copy(address, &value, sizeof(T));
  }
};

}  // namespace ardoise::instrument::python
