// File numbers: which path a descriptor stands for. Used by the POSIX hooks (descriptors) and by MPI-IO (names).
//
// A descriptor is looked up in /proc/self/fd when it is first used after it was opened, closed or replaced: that names
// files opened before MPI_Init, inherited, relative to a directory or duplicated by calls we do not see, all alike.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "instrument/buffer/definition_queue.hpp"

namespace ardoise::instrument {

class Files {
 public:
  static constexpr std::uint32_t kUnknown = 0;
  static constexpr int kDescriptors = 65536;       // greater ones are looked up each time
  static constexpr std::size_t kMaxFiles = 16384;  // further paths share one number, "(further files)"

  explicit Files(DefinitionQueue& definitions);
  ~Files();
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  // Lock-free when the descriptor is known. kUnknown: it is not open.
  [[nodiscard]] std::uint32_t of_descriptor(int descriptor) {
    if (descriptor < 0) return kUnknown;
    if (descriptor < kDescriptors && numbers_ != nullptr) [[likely]] {
      // Relaxed: the number says it all; its definition is queued before any record that this thread writes with it.
      const std::uint32_t number = numbers_[descriptor].load(std::memory_order_relaxed);
      if (number != kUnknown) return number;
    }
    return look_up(descriptor);
  }
  // The descriptor stands for something else from now on. Call after the system call that changed it.
  void forget(int descriptor) {
    if (descriptor >= 0 && descriptor < kDescriptors && numbers_ != nullptr) {
      numbers_[descriptor].store(kUnknown, std::memory_order_relaxed);
    }
  }
  [[nodiscard]] std::uint32_t of_path(std::string_view path);

 private:
  std::uint32_t look_up(int descriptor);

  DefinitionQueue& definitions_;
  std::atomic<std::uint32_t>* numbers_;  // by descriptor; a mapping of its own, touched where used
  std::mutex lock_;
  std::unordered_map<std::string, std::uint32_t> paths_;  // guarded by lock_
};

// What a link in /proc/self/fd says, as the user should read it: sockets, pipes and the like are told by kind only, the
// standard streams by their names unless they lead to a file.
[[nodiscard]] std::string display_path(int descriptor, std::string_view link);

}  // namespace ardoise::instrument
