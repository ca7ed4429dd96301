// Bins: the memory that records are written into, and the budget they come from. A full bin becomes a pack by filling
// in the header at its front; nothing is copied on the way to the analyzer.
//
//   pool ──take()──▶ a thread writes records ──▶ Sender ──▶ Transport ──reclaim──▶ give() ──▶ pool
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "instrument/event_format.hpp"

namespace ardoise::instrument {

struct Bin {
  PackHeader
      header;  // pack_class, thread, first_tick, last_tick, record_count and payload_bytes: whoever fills the bin

  [[nodiscard]] std::byte* payload() { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(Bin) == sizeof(PackHeader));

// A fixed number of bins in one mapping, which costs physical memory only for bins that were used. Thread safe. The
// last bin given is the first taken, so a program with few events touches few pages.
class BinPool {
 public:
  // bin_bytes: a multiple of 4096. Holds no bin when the memory can't be had.
  BinPool(std::size_t budget_bytes, std::size_t bin_bytes);
  ~BinPool();
  BinPool(const BinPool&) = delete;
  BinPool& operator=(const BinPool&) = delete;

  [[nodiscard]] Bin* take();  // nullptr: none is free
  // For what must not be lost (definitions, the program's own active requests): beyond the budget when no bin is free,
  // nullptr only when the machine has no memory. give() unmaps such a bin.
  [[nodiscard]] Bin* take_beyond_budget();
  void give(Bin* bin);

  [[nodiscard]] std::size_t bin_bytes() const { return bin_bytes_; }
  [[nodiscard]] std::size_t payload_bytes() const { return bin_bytes_ - sizeof(PackHeader); }
  [[nodiscard]] std::size_t bins() const { return bins_; }
  [[nodiscard]] std::size_t free_bins() const;

 private:
  const std::size_t bin_bytes_;
  std::size_t bins_;
  std::byte* memory_;
  mutable std::mutex lock_;
  std::vector<Bin*> free_;  // guarded by lock_
};

}  // namespace ardoise::instrument
