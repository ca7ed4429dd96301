// Bins: the memory into which threads write records, and the budget of that memory. A full bin becomes a pack once the
// header at its front is filled in; nothing is copied on the way to the analyzer.
//
//   pool ──take()──▶ a thread writes records ──▶ Sender ──▶ Transport ──reclaim──▶ give() ──▶ pool
//
// Every bin in use belongs to a class of events. A class can be limited to a share of the budget.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {

struct Bin {
  // The writer of the bin sets pack_class, thread, first_tick, last_tick, record_count and payload_bytes.
  PackHeader header;

  [[nodiscard]] std::byte* payload() { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(Bin) == sizeof(PackHeader));

class BinPool;

inline constexpr PackClass kNoRecords{0};  // of a bin that never becomes a pack

// A list of bins of one class, linked through a table of the pool: bins change hands without a write to their memory.
// Used by the thread of the owner only.
struct BinList {
  static constexpr std::uint32_t kNone = 0;
  std::uint32_t first = kNone, last = kNone;  // places in the pool, counted from 1
  std::uint32_t bins = 0;

  void append(BinPool& pool, Bin* bin);
  void append(BinPool& pool, BinList& other);    // leaves `other` empty; O(1)
  [[nodiscard]] Bin* take_first(BinPool& pool);  // nullptr: empty
};

// A fixed number of bins in one mapping. Only bins that were used cost physical memory. take() returns the bin that was
// given last, so a program with few events touches few pages.
//
// Any thread and any signal handler may take and give at any time. The free bins are a stack (Treiber, Systems
// Programming: Coping with Parallelism, 1986) whose links are places in a table beside the bins. Its head carries a
// count of all changes, so that a head that returned to the same bin is not taken for unchanged (ABA).
class BinPool {
 public:
  // bin_bytes: a multiple of 4096. share: the part of the bins that each of the classes kMpi and kPosix may hold at
  // once, at least one bin, so that some remain for samples. The pool holds no bin when the mapping fails.
  BinPool(std::size_t budget_bytes, std::size_t bin_bytes, double share = 1);
  ~BinPool();
  BinPool(const BinPool&) = delete;
  BinPool& operator=(const BinPool&) = delete;

  // nullptr: none is free, or the class has used up its share.
  [[nodiscard]] Bin* take(PackClass pack_class);
  // For data that must not be lost (definitions, the program's own active requests): goes beyond the budget when no bin
  // is free; nullptr only when the machine has no memory. give() unmaps such a bin. Not in a signal handler.
  [[nodiscard]] Bin* take_beyond_budget(PackClass pack_class);
  void give(Bin* bin);
  // Returns all bins of the list, which are of this class, in one exchange. The list is empty afterwards.
  void give(BinList& list, PackClass pack_class);

  // All bins in use for records, without those beyond the budget. Requires that no thread takes or gives meanwhile.
  // Allocates.
  [[nodiscard]] std::vector<Bin*> taken() const;
  [[nodiscard]] bool is_ours(const Bin* bin) const;  // not beyond the budget

  [[nodiscard]] std::size_t bin_bytes() const { return bin_bytes_; }
  [[nodiscard]] std::size_t payload_bytes() const { return bin_bytes_ - sizeof(PackHeader); }
  [[nodiscard]] std::size_t bins() const { return bins_; }
  // Both are exact while no other thread takes or gives.
  [[nodiscard]] std::size_t free_bins() const { return free_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t used(PackClass pack_class) const { return of(pack_class).load(std::memory_order_relaxed); }
  [[nodiscard]] bool share_used_up(PackClass pack_class) const {
    return is_limited(pack_class) && used(pack_class) >= limit_;
  }
  [[nodiscard]] std::size_t beyond_budget() const { return beyond_.load(std::memory_order_relaxed); }  // bins

 private:
  friend struct BinList;
  using Link = std::atomic<std::uint32_t>;

  [[nodiscard]] static bool is_limited(PackClass pack_class) {
    return pack_class == PackClass::kMpi || pack_class == PackClass::kPosix;
  }
  [[nodiscard]] std::uint32_t place(const Bin* bin) const;  // counted from 1
  [[nodiscard]] Bin* at(std::uint32_t place) const;
  [[nodiscard]] std::uint32_t pop();
  void push(std::uint32_t first, std::uint32_t last, std::uint32_t count);
  [[nodiscard]] std::atomic<std::uint32_t>& of(PackClass pack_class) {
    return used_[static_cast<std::size_t>(pack_class)];
  }
  [[nodiscard]] const std::atomic<std::uint32_t>& of(PackClass pack_class) const {
    return used_[static_cast<std::size_t>(pack_class)];
  }

  const std::size_t bin_bytes_;
  std::size_t bins_;
  std::size_t limit_;
  std::byte* memory_;
  Link* links_;             // by place - 1: the next bin of the stack or list that the bin is in
  std::uint16_t* classes_;  // by place - 1: PackClass of the bin's use; written by its holder
  alignas(64) std::atomic<std::uint64_t> head_{0};  // count of changes << 32 | place of the first free bin
  alignas(64) std::atomic<std::uint32_t> free_{0};
  std::array<std::atomic<std::uint32_t>, kPackClassCount> used_{};
  std::atomic<std::uint32_t> beyond_{0};
};

}  // namespace ardoise::instrument
