// Memory for entries and joined jobs: blocks of a few sizes, recycled through two magazines per thread and a depot that
// all threads share. An entry is usually allocated by one thread and released by another, which general allocators are
// slowest at; here such a block costs two pointer moves, and the depot's lock is taken once for kMagazine blocks.
//
// Every block is a separate allocation of operator new, so that blocks beyond the depot's capacity return to the system
// and a block may end in any thread's magazine. Under the address sanitizer nothing is recycled.
#pragma once

#include <cstddef>

namespace ardoise::blackboard {

inline constexpr std::size_t kBlockAlignment = 64;

// At least `size` bytes, aligned to kBlockAlignment. Throws std::bad_alloc.
[[nodiscard]] void* allocate_block(std::size_t size);
// `size` as passed to allocate_block.
void release_block(void* block, std::size_t size) noexcept;

}  // namespace ardoise::blackboard
