// operator new and delete for this library only (vmpi/exports.map hides them): malloc, except in a survivor, where a
// dead thread may hold malloc's locks.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "instrument/machine/mapped_memory.hpp"
#include "instrument/process/ending/survivor.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::size_t kArenaBytes = std::size_t{1} << 30;  // unused pages cost nothing

// Written by the survivor, when it is the only thread.
constinit std::byte* arena = nullptr;
constinit std::size_t arena_used = 0;

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (arena == nullptr) [[likely]] {
    if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return std::malloc(std::max<std::size_t>(bytes, 1));
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  const std::size_t begin = (arena_used + alignment - 1) / alignment * alignment;
  if (begin + bytes > kArenaBytes) return nullptr;
  arena_used = begin + bytes;
  return arena + begin;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* const memory = allocate(bytes, alignment)) [[likely]]
    return memory;
  throw std::bad_alloc();
}

void release(void* memory) noexcept {
  if (arena == nullptr) std::free(memory);
}

constexpr std::size_t kDefault = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

void allocate_without_locks() noexcept { arena = static_cast<std::byte*>(map_memory(kArenaBytes)); }

}  // namespace ardoise::instrument

using ardoise::instrument::allocate;
using ardoise::instrument::allocate_or_throw;
using ardoise::instrument::kDefault;
using ardoise::instrument::release;

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, kDefault); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, kDefault); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, kDefault); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, kDefault); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
