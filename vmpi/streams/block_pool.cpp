#include "vmpi/streams/block_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <new>

namespace ardoise::vmpi {
namespace {

std::size_t rounded_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

// Blocks of a page or more are page-aligned: MPI libraries copy whole pages between processes.
std::size_t stride_for(std::size_t block_bytes) { return rounded_up(block_bytes, block_bytes >= 4096 ? 4096 : 64); }

}  // namespace

BlockPool::BlockPool(std::size_t block_bytes, std::size_t blocks)
    : stride_(stride_for(block_bytes)),
      blocks_(std::max<std::size_t>(blocks, 1)),
      reserved_bytes_(rounded_up(stride_ * blocks_, 4096)),
      memory_(nullptr),
      slots_(std::make_unique<Slot[]>(blocks_)) {
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
  // Acquire pairs with push: the link of the slot and the last reads of its block come before.
  auto index = top_.load(std::memory_order_acquire);
  while (index != kNone && !top_.compare_exchange_weak(index, slots_[index].below, std::memory_order_acquire)) continue;
  if (index == kNone) {
    if (fresh_ == blocks_) return nullptr;
    index = fresh_++;
  }
  // Relaxed: no other thread knows the block before it is delivered.
  slots_[index].state.store(kAcquired, std::memory_order_relaxed);
  return memory_ + index * stride_;
}

void BlockPool::push(std::size_t index) noexcept {
  slots_[index].below = top_.load(std::memory_order_relaxed);
  // Release: see acquire.
  while (!top_.compare_exchange_weak(slots_[index].below, index, std::memory_order_release, std::memory_order_relaxed))
    continue;
}

void BlockPool::recycle(void* block) {
  const auto index = index_of(block);
  assert(index < blocks_ && slots_[index].state.load(std::memory_order_relaxed) == kAcquired);
  slots_[index].state.store(kFree, std::memory_order_relaxed);
  push(index);
}

void BlockPool::deliver(void* block) {
  assert(slots_[index_of(block)].state.load(std::memory_order_relaxed) == kAcquired);
  taken_.fetch_add(1, std::memory_order_relaxed);
  // Release: a thread that releases the block sees the state, and the count before it.
  slots_[index_of(block)].state.store(kTaken, std::memory_order_release);
}

bool BlockPool::release(void* block) noexcept {
  const auto index = index_of(block);
  if (index == blocks_) return false;
  auto expected = kTaken;
  // Acquire and release: when two threads release the same block, only one succeeds.
  if (!slots_[index].state.compare_exchange_strong(expected, kFree, std::memory_order_acq_rel)) return false;
  push(index);
  // Last: when the count is zero no thread is inside release any more, and the pool may be destroyed. Release pairs
  // with taken_blocks().
  taken_.fetch_sub(1, std::memory_order_release);
  return true;
}

}  // namespace ardoise::vmpi
