// The memory of a stream's reader: blocks of one size, never more of them than the reader's limit allows. A block goes
// round like this, and is the only thing of a stream that other threads touch:
//
//   free ──acquire (reader)──▶ being filled by MPI ──deliver──▶ taken by the program ──release (any thread)──▶ free
//
// Memory is reserved at once but touched only when a block is used for the first time, and the block given back last is
// the next one used, so a reader that keeps up stays at a few blocks.
#pragma once

#include <atomic>
#include <boost/lockfree/stack.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace ardoise::vmpi {

// acquire, deliver and recycle: the stream's thread. release and taken_blocks: any thread, wait for nobody.
class BlockPool {
 public:
  // Throws std::bad_alloc when the address space can't be reserved. blocks is cut to kMaxBlocks.
  BlockPool(std::size_t block_bytes, std::size_t blocks);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  static constexpr std::size_t kMaxBlocks = 65000;  // of the lock-free stack, which numbers its nodes with 16 bits

  // A free block, or nullptr.
  void* acquire();
  // Gives back a block that was acquired and never delivered.
  void recycle(void* block);
  // The block belongs to the program until it is released.
  void deliver(void* block);
  // false: not a block of this pool, or not taken at present (released twice); nothing is changed then.
  bool release(void* block) noexcept;

  int taken_blocks() const { return taken_.load(std::memory_order_acquire); }
  std::size_t blocks() const { return blocks_; }

 private:
  enum State : std::uint8_t { kFree, kAcquired, kTaken };
  std::size_t index_of(const void* block) const;

  std::size_t stride_;  // block size rounded up to whole cache lines
  std::size_t blocks_;
  std::size_t reserved_bytes_;
  std::byte* memory_;
  std::size_t fresh_ = 0;  // blocks from here on were never used
  std::unique_ptr<std::atomic<State>[]> states_;
  std::atomic<int> taken_{0};
  // Pushing a block orders its last reads before the stream's next write into it, popping orders them the other way.
  boost::lockfree::stack<std::uint16_t, boost::lockfree::fixed_sized<true>> returned_;
};

}  // namespace ardoise::vmpi
