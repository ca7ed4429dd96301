// Magazines and depot (after Bonwick and Adams, "Magazines and vmem", USENIX 2001, without their resizing).
#include "blackboard/block_pool.hpp"

#include <array>
#include <cstdint>
#include <new>
#include <utility>

#include "blackboard/threads/mutex.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define ARDOISE_RECYCLE 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARDOISE_RECYCLE 0
#endif
#endif
#ifndef ARDOISE_RECYCLE
#define ARDOISE_RECYCLE 1
#endif

namespace ardoise::blackboard {
namespace {

constexpr std::size_t kSteps = 8;           // sizes 64, 128 … 512 are recycled, larger ones are not
constexpr std::uint32_t kMagazine = 64;     // blocks in a full magazine
constexpr std::uint32_t kDepotLimit = 256;  // full magazines of one size in the depot: at most 8 MiB

struct FreeBlock {
  FreeBlock* next;
  FreeBlock* next_magazine;  // used in the first block of a magazine in the depot
};

struct Magazine {
  FreeBlock* top = nullptr;
  std::uint32_t count = 0;
};

void* new_block(std::size_t size) { return ::operator new (size, std::align_val_t{kBlockAlignment}); }
void delete_block(void* block) noexcept { ::operator delete (block, std::align_val_t{kBlockAlignment}); }

void delete_all(FreeBlock* block) noexcept {
  while (block != nullptr) delete_block(std::exchange(block, block->next));
}

// Holds full magazines only. Thread safety: any thread.
class Depot {
 public:
  [[nodiscard]] FreeBlock* take() noexcept {
    const MutexLock lock(mutex_);
    FreeBlock* const magazine = first_;
    if (magazine != nullptr) {
      first_ = magazine->next_magazine;
      --count_;
    }
    return magazine;
  }
  void give(FreeBlock* magazine) noexcept {
    {
      const MutexLock lock(mutex_);
      if (count_ < kDepotLimit) {
        magazine->next_magazine = first_;
        first_ = magazine;
        ++count_;
        return;
      }
    }
    delete_all(magazine);
  }

 private:
  Mutex mutex_;
  FreeBlock* first_ GUARDED_BY(mutex_) = nullptr;
  std::uint32_t count_ GUARDED_BY(mutex_) = 0;
};

// Never destroyed: threads release blocks until the end of the process.
Depot& depot(std::size_t step) {
  static auto* const depots = new std::array<Depot, kSteps>;
  return (*depots)[step];
}

struct ThreadCache {
  std::array<Magazine, kSteps> current, spare;
  bool closed = false;   // the thread is ending: nothing is cached any more
  bool watched = false;  // CacheCloser will run
};
// Trivially constructed and destroyed, so that an access is one instruction; CacheCloser empties it.
constinit thread_local ThreadCache cache;

struct CacheCloser {
  ~CacheCloser() {
    cache.closed = true;
    for (std::size_t step = 0; step < kSteps; ++step) {
      for (Magazine* magazine : {&cache.current[step], &cache.spare[step]}) {
        if (magazine->count == kMagazine) {
          depot(step).give(magazine->top);
        } else {
          delete_all(magazine->top);
        }
        *magazine = {};
      }
    }
  }
};

void watch() {
  if (cache.watched) return;
  cache.watched = true;
  static thread_local CacheCloser closer;
  static_cast<void>(closer);
}

[[gnu::noinline]] void* refill(std::size_t step) {
  watch();
  Magazine& current = cache.current[step];
  if (cache.spare[step].count != 0) {
    std::swap(current, cache.spare[step]);
  } else if (FreeBlock* const magazine = cache.closed ? nullptr : depot(step).take(); magazine != nullptr) {
    current = {magazine, kMagazine};
  } else {
    return new_block((step + 1) * kBlockAlignment);
  }
  --current.count;
  return std::exchange(current.top, current.top->next);
}

[[gnu::noinline]] void exchange_full(std::size_t step) noexcept {
  watch();
  Magazine& spare = cache.spare[step];
  if (spare.count == kMagazine) depot(step).give(std::exchange(spare.top, nullptr));
  spare = std::exchange(cache.current[step], {});
}

}  // namespace

void* allocate_block(std::size_t size) {
  const std::size_t step = size == 0 ? 0 : (size - 1) / kBlockAlignment;
  if (!ARDOISE_RECYCLE || step >= kSteps) return new_block(size);
  Magazine& current = cache.current[step];
  if (current.count == 0) return refill(step);
  --current.count;
  return std::exchange(current.top, current.top->next);
}

void release_block(void* block, std::size_t size) noexcept {
  const std::size_t step = size == 0 ? 0 : (size - 1) / kBlockAlignment;
  if (!ARDOISE_RECYCLE || step >= kSteps || cache.closed) return delete_block(block);
  Magazine& current = cache.current[step];
  if (current.count == kMagazine) exchange_full(step);
  watch();
  current.top = new (block) FreeBlock{current.top, nullptr};
  ++current.count;
}

}  // namespace ardoise::blackboard
