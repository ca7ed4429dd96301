#include "instrument/sampling/calling_contexts.hpp"

#include <bit>

#include "instrument/machine/mapped_memory.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::uint32_t kFirstIndex = 256;                            // slots
constexpr std::uint32_t kLastIndex = 2 * CallingContexts::kMaxNodes;  // at most half full
constexpr std::size_t kIndexSlots = 2 * kLastIndex;                   // 256 + 512 + … + kLastIndex, rounded up
constexpr std::size_t kNodeBytes = CallingContexts::kMaxNodes * sizeof(CallingContexts::Node);
constexpr std::size_t kIndexBytes = kIndexSlots * sizeof(std::uint32_t);
constexpr std::size_t kPathBytes = CallingContexts::kMaxDepth * (sizeof(std::uint64_t) + sizeof(std::uint32_t));
constexpr std::size_t kBytes = kPathBytes + kNodeBytes + kIndexBytes;

std::uint64_t hash_of(std::uint32_t parent, std::uint64_t pc, std::uint32_t flags) {
  const std::uint64_t key = (pc ^ static_cast<std::uint64_t>(parent) << 40) + flags;
  return key * 0x9E3779B97F4A7C15u;
}

}  // namespace

CallingContexts::CallingContexts(ContextBudget& budget) noexcept
    : budget_(budget), memory_(static_cast<std::byte*>(map_memory(kBytes))) {
  if (memory_ == nullptr) return;
  last_pcs_ = reinterpret_cast<std::uint64_t*>(memory_);
  last_ids_ = reinterpret_cast<std::uint32_t*>(last_pcs_ + kMaxDepth);
  nodes_ = reinterpret_cast<Node*>(memory_ + kPathBytes);
  index_ = reinterpret_cast<std::uint32_t*>(memory_ + kPathBytes + kNodeBytes);
  index_size_ = kFirstIndex;
}

CallingContexts::~CallingContexts() {
  if (memory_ == nullptr) return;
  budget_.give(size_.load(std::memory_order_relaxed) - 1);
  unmap_memory(memory_, kBytes);
}

void CallingContexts::insert(std::uint32_t context) noexcept {
  const Node& node = nodes_[context];
  const std::uint64_t hash = hash_of(node.parent, node.pc, node.flags);
  for (std::uint64_t slot = hash >> 32;; ++slot) {
    std::uint32_t& place = index_[slot & (index_size_ - 1)];
    if (place != 0) continue;
    place = context;
    return;
  }
}

// The next index follows this one in memory, twice as long and still zero. Its pages are first touched here.
void CallingContexts::enlarge() noexcept {
  index_ += index_size_;
  index_size_ *= 2;
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  for (std::uint32_t context = 1; context < size; ++context) {
    if ((nodes_[context].flags & kDead) == 0) insert(context);
  }
}

std::uint32_t CallingContexts::child(std::uint32_t parent, std::uint64_t pc, std::uint32_t flags) noexcept {
  const std::uint64_t hash = hash_of(parent, pc, flags);
  for (std::uint64_t slot = hash >> 32;; ++slot) {
    const std::uint32_t context = index_[slot & (index_size_ - 1)];
    if (context == 0) break;
    const Node& node = nodes_[context];
    if (node.pc == pc && node.parent == parent && node.flags == flags) return context;
  }
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  if (size == kMaxNodes || !budget_.take()) return 0;
  nodes_[size] = {pc, parent, flags};
  size_.store(size + 1, std::memory_order_release);
  if (2 * (size + 1) > index_size_ && index_size_ < kLastIndex) {
    enlarge();
  } else {
    insert(size);
  }
  return size;
}

CallingContexts::Found CallingContexts::find_or_add(std::span<const std::uint64_t> frames,
                                                    std::uint64_t leaf) noexcept {
  Found found;
  const std::size_t depth = frames.size() < kMaxDepth ? frames.size() : kMaxDepth;
  const std::size_t returns = leaf != 0 && depth != 0 ? depth - 1 : depth;
  bool same = true;
  std::size_t level = 0;
  for (; level < returns; ++level) {
    const std::uint64_t pc = frames[depth - 1 - level];
    same = same && level < last_depth_ && last_pcs_[level] == pc;
    if (same) {
      found.context = last_ids_[level];
      continue;
    }
    const std::uint32_t context = child(found.context, pc, 0);
    if (context == 0) {
      found.truncated = true;
      break;
    }
    found.context = context;
    last_pcs_[level] = pc;
    last_ids_[level] = context;
    last_depth_ = level + 1;
  }
  if (found.truncated || returns == depth) return found;
  const std::uint32_t context = child(found.context, leaf, kLeaf);
  if (context == 0) {
    found.truncated = true;
  } else {
    found.context = context;
  }
  return found;
}

void CallingContexts::forget(std::uint64_t begin, std::uint64_t end) noexcept {
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  for (std::uint32_t context = 1; context < size; ++context) {
    Node& node = nodes_[context];
    // Contexts below a dead one have a dead parent and are no longer found either.
    if (node.pc - begin < end - begin) node.flags |= kDead;
  }
  last_depth_ = 0;
}

}  // namespace ardoise::instrument
