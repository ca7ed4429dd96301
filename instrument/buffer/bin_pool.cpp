#include "instrument/buffer/bin_pool.hpp"

#include <algorithm>
#include <new>

#include "instrument/machine/mapped_memory.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::uint64_t head_of(std::uint64_t changes, std::uint32_t place) { return changes << 32 | place; }

}  // namespace

void BinList::append(BinPool& pool, Bin* bin) {
  const std::uint32_t place = pool.place(bin);
  pool.links_[place - 1].store(kNone, std::memory_order_relaxed);
  if (last == kNone) {
    first = place;
  } else {
    pool.links_[last - 1].store(place, std::memory_order_relaxed);
  }
  last = place;
  ++bins;
}

void BinList::append(BinPool& pool, BinList& other) {
  if (other.first == kNone) return;
  if (last == kNone) {
    first = other.first;
  } else {
    pool.links_[last - 1].store(other.first, std::memory_order_relaxed);
  }
  last = other.last;
  bins += other.bins;
  other = {};
}

Bin* BinList::take_first(BinPool& pool) {
  if (first == kNone) return nullptr;
  Bin* const bin = pool.at(first);
  first = first == last ? kNone : pool.links_[first - 1].load(std::memory_order_relaxed);
  if (first == kNone) last = kNone;
  --bins;
  return bin;
}

BinPool::BinPool(std::size_t budget_bytes, std::size_t bin_bytes, double share)
    : bin_bytes_(bin_bytes),
      bins_(budget_bytes / bin_bytes),
      memory_(static_cast<std::byte*>(map_memory(bins_ * bin_bytes))),
      links_(static_cast<Link*>(map_memory(bins_ * (sizeof(Link) + sizeof(*classes_))))),
      classes_(reinterpret_cast<std::uint16_t*>(links_ + bins_)) {
  if (memory_ == nullptr || links_ == nullptr) {
    if (memory_ != nullptr) unmap_memory(memory_, bins_ * bin_bytes_);
    if (links_ != nullptr) unmap_memory(links_, bins_ * (sizeof(Link) + sizeof(*classes_)));
    memory_ = nullptr;
    bins_ = 0;
  }
  limit_ = std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(bins_) * share));
  if (bins_ == 0) return;
  for (std::uint32_t i = 0; i < bins_; ++i) new (links_ + i) Link(i + 1 < bins_ ? i + 2 : BinList::kNone);
  head_.store(head_of(0, 1), std::memory_order_relaxed);
  free_.store(static_cast<std::uint32_t>(bins_), std::memory_order_release);
}

BinPool::~BinPool() {
  if (memory_ == nullptr) return;
  unmap_memory(memory_, bins_ * bin_bytes_);
  unmap_memory(links_, bins_ * (sizeof(Link) + sizeof(*classes_)));
}

bool BinPool::is_ours(const Bin* bin) const {
  const auto* const address = reinterpret_cast<const std::byte*>(bin);
  return address >= memory_ && address < memory_ + bins_ * bin_bytes_;
}

std::vector<Bin*> BinPool::taken() const {
  std::vector<bool> is_free(bins_);
  auto place = static_cast<std::uint32_t>(head_.load(std::memory_order_acquire));
  for (std::size_t left = bins_; place != BinList::kNone && left != 0; --left) {
    is_free[place - 1] = true;
    place = links_[place - 1].load(std::memory_order_relaxed);
  }
  std::vector<Bin*> bins;
  for (std::uint32_t i = 0; i < bins_; ++i) {
    if (!is_free[i] && classes_[i] != static_cast<std::uint16_t>(kNoRecords)) bins.push_back(at(i + 1));
  }
  return bins;
}

std::uint32_t BinPool::place(const Bin* bin) const {
  return static_cast<std::uint32_t>(
      static_cast<std::size_t>(reinterpret_cast<const std::byte*>(bin) - memory_) / bin_bytes_ + 1);
}

Bin* BinPool::at(std::uint32_t place) const { return reinterpret_cast<Bin*>(memory_ + (place - 1) * bin_bytes_); }

// Acquire pairs with the release in push(): the giver is done with the bin. The link may be stale if another thread
// took the bin meanwhile; the head then has another count of changes, and the exchange fails. (It would succeed after
// exactly 2^32 changes between the two lines: an hour of nothing but changes.)
std::uint32_t BinPool::pop() {
  std::uint64_t head = head_.load(std::memory_order_acquire);
  for (;;) {
    const auto first = static_cast<std::uint32_t>(head);
    if (first == BinList::kNone) return BinList::kNone;
    const std::uint32_t next = links_[first - 1].load(std::memory_order_relaxed);
    if (head_.compare_exchange_weak(head, head_of((head >> 32) + 1, next), std::memory_order_acquire)) {
      free_.fetch_sub(1, std::memory_order_relaxed);
      return first;
    }
  }
}

// Release: see pop(). Acquire-release, since the writes of an earlier giver must reach the taker of a bin below this
// one: a chain of exchanges on one atomic carries them.
void BinPool::push(std::uint32_t first, std::uint32_t last, std::uint32_t count) {
  free_.fetch_add(count, std::memory_order_relaxed);
  std::uint64_t head = head_.load(std::memory_order_relaxed);
  do {
    links_[last - 1].store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
  } while (!head_.compare_exchange_weak(head, head_of((head >> 32) + 1, first), std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
}

Bin* BinPool::take(PackClass pack_class) {
  // Counted first: threads that come at the same time must not exceed the share together.
  const std::uint32_t before = of(pack_class).fetch_add(1, std::memory_order_relaxed);
  const bool allowed = !is_limited(pack_class) || before < limit_;
  const std::uint32_t taken = allowed ? pop() : BinList::kNone;
  if (taken == BinList::kNone) {
    of(pack_class).fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  classes_[taken - 1] = static_cast<std::uint16_t>(pack_class);
  Bin* const bin = at(taken);
  bin->header = PackHeader{};
  return bin;
}

Bin* BinPool::take_beyond_budget(PackClass pack_class) {
  if (Bin* bin = take(pack_class)) return bin;
  auto* const bin = static_cast<Bin*>(map_memory(bin_bytes_));
  if (bin != nullptr) beyond_.fetch_add(1, std::memory_order_relaxed);
  return bin;
}

void BinPool::give(Bin* bin) {
  if (!is_ours(bin)) {
    unmap_memory(bin, bin_bytes_);
    beyond_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  const std::uint32_t given = place(bin);
  of(static_cast<PackClass>(classes_[given - 1])).fetch_sub(1, std::memory_order_relaxed);
  push(given, given, 1);
}

void BinPool::give(BinList& list, PackClass pack_class) {
  if (list.bins == 0) return;
  of(pack_class).fetch_sub(list.bins, std::memory_order_relaxed);
  push(list.first, list.last, list.bins);
  list = {};
}

}  // namespace ardoise::instrument
