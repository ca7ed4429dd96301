// The calling context tree of one thread: it turns a path of program counters into one number. It grows in a separate
// mapping with memory for used pages only, up to a number of nodes that all threads of the process share, so the
// thread's signal handler may use it.
//
//   nodes_:  [0 unused][1: parent 0, pc][2: parent 1, pc] …      ids are places here: dense, in the order of appearance
//   index_:  open addressing over (parent, pc) ──▶ id; the next larger one is built when it is half full
//
// Written by the owning thread only, in its handler or with the handler excluded (kContexts). Other threads may read
// nodes below size() at any time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ardoise::instrument {

// The number of contexts that the process may still add. Relaxed: a count.
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

  // Reserves address space; if that fails, ready() is false.
  explicit CallingContexts(ContextBudget& budget) noexcept;
  ~CallingContexts();
  CallingContexts(const CallingContexts&) = delete;
  CallingContexts& operator=(const CallingContexts&) = delete;
  [[nodiscard]] bool ready() const noexcept { return memory_ != nullptr; }

  struct Found {
    std::uint32_t context = 0;
    bool truncated = false;  // the path did not fit: `context` is the deepest known caller
  };
  // frames: innermost first, as Unwinder writes them. leaf: replaces frames[0] if it is not 0: the start of the
  // interrupted function, distinct from return addresses.
  Found find_or_add(std::span<const std::uint64_t> frames, std::uint64_t leaf) noexcept;

  // The context of a call at `pc` in `parent` (0: the root); 0: no room.
  [[nodiscard]] std::uint32_t child_of(std::uint32_t parent, std::uint64_t pc) noexcept { return child(parent, pc, 0); }

  struct Node {
    std::uint64_t pc = 0;      // in this process
    std::uint32_t parent = 0;  // 0: the root
    std::uint32_t flags = 0;   // ContextRecord::flags, kDead
  };
  static constexpr std::uint32_t kLeaf = 1;
  static constexpr std::uint32_t kDead = 0x8000'0000u;  // its module was unloaded: no longer found

  // Nodes 1 … size()-1 are valid. Acquire pairs with the release of a new node.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  [[nodiscard]] const Node& node(std::uint32_t context) const noexcept { return nodes_[context]; }

  // Contexts with a program counter in [begin, end) are no longer found; their numbers scope. Requires that the owner
  // is excluded.
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
