// See block_pool.hpp.
#include "vmpi/block_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace ardoise::vmpi {
namespace {

std::size_t rounded_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

// Blocks of a page or more start at a page: MPI libraries copy whole pages between processes.
std::size_t stride_for(std::size_t block_bytes) { return rounded_up(block_bytes, block_bytes >= 4096 ? 4096 : 64); }

}  // namespace

BlockPool::BlockPool(std::size_t block_bytes, std::size_t blocks)
    : stride_(stride_for(block_bytes)),
      blocks_(std::clamp<std::size_t>(blocks, 1, kMaxBlocks)),
      reserved_bytes_(rounded_up(stride_ * blocks_, 4096)),
      memory_(nullptr),
      states_(new std::atomic<State>[blocks_]),
      returned_(blocks_) {
  for (std::size_t i = 0; i < blocks_; ++i) states_[i].store(kFree, std::memory_order_relaxed);
  void* memory =
      ::mmap(nullptr, reserved_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(memory);
}

BlockPool::~BlockPool() { ::munmap(memory_, reserved_bytes_); }

std::size_t BlockPool::index_of(const void* block) const {
  const auto offset = reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(memory_);
  return offset % stride_ == 0 && offset / stride_ < blocks_ ? offset / stride_ : blocks_;
}

void* BlockPool::acquire() {
  std::uint16_t index = 0;
  if (!returned_.pop(index)) {
    if (fresh_ == blocks_) return nullptr;
    index = static_cast<std::uint16_t>(fresh_++);
  }
  // Relaxed: until the block is delivered, no other thread knows it; the stack ordered what came before.
  states_[index].store(kAcquired, std::memory_order_relaxed);
  return memory_ + index * stride_;
}

void BlockPool::recycle(void* block) {
  const auto index = index_of(block);
  states_[index].store(kFree, std::memory_order_relaxed);
  returned_.push(static_cast<std::uint16_t>(index));
}

void BlockPool::deliver(void* block) {
  taken_.fetch_add(1, std::memory_order_relaxed);
  // Release: a thread that was handed the block and releases it sees the state, and the count before it.
  states_[index_of(block)].store(kTaken, std::memory_order_release);
}

bool BlockPool::release(void* block) noexcept {
  const auto index = index_of(block);
  if (index == blocks_) return false;
  auto expected = kTaken;
  // Acquire and release: of two threads that release the same block, one wins, and only that one gives it back.
  if (!states_[index].compare_exchange_strong(expected, kFree, std::memory_order_acq_rel)) return false;
  returned_.push(static_cast<std::uint16_t>(index));
  // Last: when the count is zero no thread is inside release any more, and the pool may go. Release pairs with
  // taken_blocks().
  taken_.fetch_sub(1, std::memory_order_release);
  return true;
}

}  // namespace ardoise::vmpi
