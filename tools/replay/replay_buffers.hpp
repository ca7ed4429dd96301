// Memory for messages that are sent and received; its content is irrelevant. For one thread of a replay: not thread
// safe. Pending operations have separate buffers, as MPI requires, until the limit is reached; beyond it they share
// one.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "tools/replay/scratch_file.hpp"

namespace ardoise::replay {

// The bytes around a buffer's address that a call accesses.
struct Extent {
  std::int64_t lower = 0, upper = 0;
  void add(const Extent& other) {
    if (other.lower == other.upper) return;
    if (lower == upper) *this = other;
    lower = std::min(lower, other.lower);
    upper = std::max(upper, other.upper);
  }
  [[nodiscard]] Extent moved(std::int64_t bytes) const { return {lower + bytes, upper + bytes}; }
};

class ReplayBuffer {
 public:
  ReplayBuffer() = default;
  ~ReplayBuffer() { release(); }
  ReplayBuffer(const ReplayBuffer&) = delete;
  ReplayBuffer& operator=(const ReplayBuffer&) = delete;

  // The address for a call; valid until a larger one is requested.
  [[nodiscard]] void* at(const Extent& extent) {
    const auto bytes = static_cast<std::uint64_t>(extent.upper - extent.lower);
    if (bytes > room_) grow(bytes);
    return base_ - extent.lower;
  }
  [[nodiscard]] std::uint64_t room() const { return room_; }

 private:
  void release() {
    if (room_ != 0) ::munmap(base_, room_);
    room_ = 0;
  }
  void grow(std::uint64_t bytes) {
    release();
    const std::uint64_t room = std::max<std::uint64_t>((bytes + bytes / 4 + 4095) / 4096 * 4096, 4096);
    void* const base =
        ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) throw ReplayError("no memory for a message of " + std::to_string(bytes) + " bytes");
    base_ = static_cast<std::byte*>(base);
    room_ = room;
  }
  std::byte nothing_[8]{};
  std::byte* base_ = nothing_;
  std::uint64_t room_ = 0;
};

class ReplayBuffers {
 public:
  explicit ReplayBuffers(std::uint64_t most) : most_(most) {}

  [[nodiscard]] void* send(const Extent& extent) { return send_.at(extent); }
  [[nodiscard]] void* receive(const Extent& extent) { return receive_.at(extent); }
  [[nodiscard]] void* result(const Extent& extent) { return result_.at(extent); }  // of calls with a third buffer
  // For a pending operation. Its two buffers are disjoint.
  [[nodiscard]] void* own(std::uint32_t slot, bool receives, const Extent& extent) {
    ReplayBuffer& buffer = own_[std::uint64_t{slot} << 1 | (receives ? 1u : 0u)];
    const auto bytes = static_cast<std::uint64_t>(extent.upper - extent.lower);
    if (bytes > buffer.room() && held_ - buffer.room() + bytes > most_) {
      ++shared_;
      return receives ? receive_.at(extent) : send_.at(extent);
    }
    held_ -= buffer.room();
    void* const address = buffer.at(extent);
    held_ += buffer.room();
    return address;
  }
  [[nodiscard]] std::uint64_t shared() const { return shared_; }  // operations that share a buffer

 private:
  const std::uint64_t most_;
  ReplayBuffer send_, receive_, result_;
  std::unordered_map<std::uint64_t, ReplayBuffer> own_;
  std::uint64_t held_ = 0, shared_ = 0;
};

}  // namespace ardoise::replay
