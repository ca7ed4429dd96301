// Block memory of a stream's reader: blocks of one size, bounded in number by the reader's limit. Only blocks are
// touched by several threads:
//
//   free ──acquire (reader)──▶ being filled by MPI ──deliver──▶ taken by the program ──release (any thread)──▶ free
//
// Address space is reserved at once and touched at the first use of a block. The last block returned is the next one
// used, so a reader that keeps up uses few blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace ardoise::vmpi {

// acquire, deliver and recycle: the stream's thread. release and taken_blocks: any thread, wait-free for callers.
class BlockPool {
 public:
  // Throws std::bad_alloc when the address space cannot be reserved.
  BlockPool(std::size_t block_bytes, std::size_t blocks);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // A free block, or nullptr.
  void* acquire();
  // Returns a block that was acquired and never delivered.
  void recycle(void* block);
  // The block belongs to the program until it is released.
  void deliver(void* block);
  // false: not a block of this pool, or not taken at present (released twice); nothing changes then.
  bool release(void* block) noexcept;

  int taken_blocks() const { return taken_.load(std::memory_order_acquire); }
  std::size_t blocks() const { return blocks_; }

 private:
  enum State : std::uint8_t { kFree, kAcquired, kTaken };
  struct Slot {
    std::atomic<State> state{kFree};
    std::size_t below = kNone;  // the slot under this one in the stack of free blocks
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::size_t index_of(const void* block) const;
  void push(std::size_t index) noexcept;

  std::size_t stride_;  // block size rounded up to whole cache lines or pages
  std::size_t blocks_;
  std::size_t reserved_bytes_;
  std::byte* memory_;
  std::size_t fresh_ = 0;  // blocks from here on were never used
  std::unique_ptr<Slot[]> slots_;
  std::atomic<int> taken_{0};
  // Top of a stack of free blocks (R. K. Treiber, 1986) that many threads push to and one thread pops from. With a
  // single popping thread a slot cannot leave and return between its two steps, so no counter against ABA is needed.
  std::atomic<std::size_t> top_{kNone};
};

}  // namespace ardoise::vmpi
