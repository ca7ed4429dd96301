// The calling context tree of one thread: a path of program counters becomes one number. Grows in memory of its own, of
// which only used pages exist, up to a number of nodes that all threads of the process share; so it may be used in the
// thread's signal handler.
//
//   nodes_:  [0 unused][1: parent 0, pc][2: parent 1, pc] …      ids are places here: dense, in the order of appearance
//   index_:  open addressing over (parent, pc) ──▶ id; the next larger one is built when it is half full
//
// Written by the owning thread only, in its handler or with its handler kept out (kContexts). Other threads may
// read nodes below size() at any time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ardoise::instrument {

// How many more contexts the process may have. Relaxed: a count.
class ContextBudget {
 public:
  explicit ContextBudget(std::uint32_t nodes) : left_(nodes) {}
  [[nodiscard]] bool take() noexcept {
    std::uint32_t left = left_.load(std::memory_order_relaxed);
    while (left != 0 && !left_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {
    }
    return left != 0;
  }
  void give(std::uint32_t nodes) noexcept { left_.fetch_add(nodes, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> left_;
};

class CallingContexts {
 public:
  static constexpr std::uint32_t kMaxNodes = 32768;
  static constexpr std::size_t kMaxDepth = 256;

  // Reserves address space; ready() is false when there is none.
  explicit CallingContexts(ContextBudget& budget) noexcept;
  ~CallingContexts();
  CallingContexts(const CallingContexts&) = delete;
  CallingContexts& operator=(const CallingContexts&) = delete;
  [[nodiscard]] bool ready() const noexcept { return memory_ != nullptr; }

  struct Found {
    std::uint32_t context = 0;
    bool truncated = false;  // no room for all of the path: `context` is the deepest caller that is known
  };
  // frames: innermost first, as Unwinder writes them. leaf: what stands for frames[0] instead when it is not 0: the
  // start of the interrupted function, told apart from return addresses.
  Found find_or_add(std::span<const std::uint64_t> frames, std::uint64_t leaf) noexcept;

  // The context of a call at `pc` in `parent` (0: the root); 0: there is no room for it.
  [[nodiscard]] std::uint32_t child_of(std::uint32_t parent, std::uint64_t pc) noexcept { return child(parent, pc, 0); }

  struct Node {
    std::uint64_t pc = 0;      // in this process
    std::uint32_t parent = 0;  // 0: the root
    std::uint32_t flags = 0;   // ContextRecord::flags, kDead
  };
  static constexpr std::uint32_t kLeaf = 1;
  static constexpr std::uint32_t kDead = 0x8000'0000u;  // its module was unloaded: is not found any more

  // Of nodes 1 … size()-1. Acquire pairs with the release of a new node.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  [[nodiscard]] const Node& node(std::uint32_t context) const noexcept { return nodes_[context]; }

  // Contexts whose program counter is in [begin, end) are not found any more; their numbers stay. Requires that the
  // owner is kept out.
  void forget(std::uint64_t begin, std::uint64_t end) noexcept;

 private:
  [[nodiscard]] std::uint32_t child(std::uint32_t parent, std::uint64_t pc, std::uint32_t flags) noexcept;
  void insert(std::uint32_t context) noexcept;
  void enlarge() noexcept;

  ContextBudget& budget_;
  std::byte* memory_;
  Node* nodes_ = nullptr;
  std::uint32_t* index_ = nullptr;  // within memory_
  std::uint32_t index_size_ = 0;    // a power of two
  std::atomic<std::uint32_t> size_ = 1;
  // The path of the last call, outermost first: most samples share its beginning.
  std::uint64_t* last_pcs_ = nullptr;
  std::uint32_t* last_ids_ = nullptr;
  std::size_t last_depth_ = 0;
};

}  // namespace ardoise::instrument
