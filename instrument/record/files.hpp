// File numbers: the paths of descriptors. Used by the POSIX hooks (descriptors) and by MPI-IO (names).
//
// A descriptor is looked up in /proc/thread-self/fd when it is first used after it was opened, closed or replaced. This
// also covers files that were opened before MPI_Init, inherited, opened relative to a directory or duplicated by calls
// without a hook.
//
//   descriptor ──numbers_──▶ number = place in a hash table of paths ──push list──▶ define_new() ──▶ DefinitionQueue
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "instrument/buffer/definition_queue.hpp"
#include "instrument/buffer/push_list.hpp"

namespace ardoise::instrument {

// All functions but define_new() are async-signal-safe. Any thread may call any of them at any time. Entries are never
// removed. Two paths with the same 64-bit hash would be one file; with at most 16,384 files the probability is 1e-11.
class Files final : public DefinitionSource {
 public:
  static constexpr std::uint32_t kUnknown = 0;
  static constexpr int kDescriptors = 65536;       // greater ones are looked up each time
  static constexpr std::size_t kMaxFiles = 16384;  // further paths share one number, "(further files)"
  static constexpr std::size_t kMaxPath = 4096;    // bytes; the rest of a longer path is cut off

  explicit Files(DefinitionQueue& definitions);
  ~Files();
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  // kUnknown: not open, out of memory, or 32 other threads are looking up descriptors at the moment.
  [[nodiscard]] std::uint32_t of_descriptor(int descriptor) noexcept {
    if (descriptor < 0 || table_ == nullptr) return kUnknown;
    if (descriptor < kDescriptors) [[likely]] {
      // Relaxed: no other data depends on the number.
      const std::uint32_t number = table_->numbers[descriptor].load(std::memory_order_relaxed);
      if (number != kUnknown) return number;
    }
    return look_up(descriptor);
  }
  // The same for a descriptor that open() just returned for this path; nullptr: not known. A file that was opened by
  // the same path before needs no look-up: it is the one with the same device and inode.
  std::uint32_t opened(int descriptor, const char* path) noexcept;
  // The descriptor refers to another file from now on. Call it after the system call that changed it.
  void forget(int descriptor) noexcept {
    if (descriptor >= 0 && descriptor < kDescriptors && table_ != nullptr) {
      table_->numbers[descriptor].store(kUnknown, std::memory_order_relaxed);
    }
  }
  [[nodiscard]] std::uint32_t of_path(std::string_view path) noexcept;

  void define_new(DefinitionQueue& definitions) override;

 private:
  static constexpr std::size_t kSlots = 2 * kMaxFiles;  // short probe sequences
  static constexpr std::uint32_t kFurtherFiles = kSlots + 1;
  static constexpr std::size_t kOpened = 4096;
  static constexpr std::uint64_t kNumberBits = (std::uint64_t{1} << 20) - 1;
  static_assert(kFurtherFiles <= kNumberBits && kOpened <= kNumberBits);
  static constexpr std::size_t kTextBytes = std::size_t{4} << 20;

  struct Slot {
    std::atomic<std::uint64_t> hash;  // 0: free. Relaxed: the number of a path is its place
    PushList::Link link;
    std::uint32_t begin, bytes;  // in text; before it is pushed
  };
  struct Scratch {  // for one look-up: the stack may be a small one of a signal handler
    char link[kMaxPath];
    char display[kMaxPath + 2];
  };
  static constexpr std::uint32_t kScratches = 32;
  struct Table {  // one mapping: only used pages are allocated
    std::atomic<std::uint32_t> numbers[kDescriptors];
    Slot slots[kSlots];
    char text[kTextBytes];
    Scratch scratches[kScratches];
    std::atomic<std::uint64_t> opened[kOpened];  // hash of path, device and inode; its low bits are the number
  };
  std::uint32_t look_up(int descriptor) noexcept;
  [[nodiscard]] std::uint32_t further_files() noexcept;

  Table* table_;
  std::atomic<std::uint32_t> count_ = 0, text_used_ = 0;
  std::atomic<std::uint32_t> scratches_used_ = 0;  // one bit each
  std::atomic<bool> has_further_ = false;
  bool defined_further_ = false;  // used by the defining thread
  PushList new_;
};

// A link in /proc/thread-self/fd as readable text: sockets, pipes and the like by kind only, the standard streams by
// name unless they lead to a file. The result is a part of `link`, a constant, or written into `room` (at least two
// bytes longer than `link`). Async-signal-safe.
[[nodiscard]] std::string_view display_path(int descriptor, std::string_view link, std::span<char> room) noexcept;

}  // namespace ardoise::instrument
