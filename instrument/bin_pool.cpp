// See bin_pool.hpp.
#include "instrument/bin_pool.hpp"

#include "instrument/mapped_memory.hpp"

namespace ardoise::instrument {

BinPool::BinPool(std::size_t budget_bytes, std::size_t bin_bytes)
    : bin_bytes_(bin_bytes),
      bins_(budget_bytes / bin_bytes),
      memory_(static_cast<std::byte*>(map_memory(bins_ * bin_bytes))) {
  if (memory_ == nullptr) bins_ = 0;
  free_.reserve(bins_);
  for (std::size_t i = bins_; i > 0; --i) free_.push_back(reinterpret_cast<Bin*>(memory_ + (i - 1) * bin_bytes_));
}

BinPool::~BinPool() {
  if (memory_ != nullptr) unmap_memory(memory_, bins_ * bin_bytes_);
}

Bin* BinPool::take() {
  Bin* bin = nullptr;
  {
    const std::lock_guard guard(lock_);
    if (free_.empty()) return nullptr;
    bin = free_.back();
    free_.pop_back();
  }
  bin->header = PackHeader{};
  return bin;
}

Bin* BinPool::take_beyond_budget() {
  if (Bin* bin = take()) return bin;
  return static_cast<Bin*>(map_memory(bin_bytes_));
}

void BinPool::give(Bin* bin) {
  auto* const address = reinterpret_cast<std::byte*>(bin);
  if (address < memory_ || address >= memory_ + bins_ * bin_bytes_) {
    unmap_memory(bin, bin_bytes_);
    return;
  }
  const std::lock_guard guard(lock_);
  free_.push_back(bin);
}

std::size_t BinPool::free_bins() const {
  const std::lock_guard guard(lock_);
  return free_.size();
}

}  // namespace ardoise::instrument
