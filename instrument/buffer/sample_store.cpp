#include "instrument/buffer/sample_store.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace ardoise::instrument {

namespace {

enum Waits { kWaits };

}  // namespace

// Holds the store; false: another thread or handler holds it.
class SampleStore::Use {
 public:
  explicit Use(SampleStore& store) : flag_(store.used_), got_(!flag_.test_and_set(std::memory_order_acquire)) {}
  // Not for handlers, which may have interrupted their own thread here. A handler or a sender holds the store for less
  // than a microsecond, unless it lost its processor.
  Use(SampleStore& store, Waits) : Use(store) {
    for (int tries = 0; !got_ && tries < 100000; ++tries) {
      ::sched_yield();
      got_ = !flag_.test_and_set(std::memory_order_acquire);
    }
  }
  ~Use() {
    if (got_) flag_.clear(std::memory_order_release);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  explicit operator bool() const { return got_; }

 private:
  std::atomic_flag& flag_;
  bool got_;
};

bool SampleStore::start(std::uint32_t thread, const SamplingPlan& plan, std::uint64_t tick) noexcept {
  // A sender may be reading the data of the store's previous thread.
  const Use use(*this, kWaits);
  if (!use) return false;
  seal();
  thread_ = thread;
  plan_ = plan;
  plan_.counter_count = std::min(plan.counter_count, kMaxCounters);
  record_bytes_ = static_cast<std::uint32_t>(sizeof(SampleRecord) + plan_.counter_count * sizeof(std::uint64_t));
  // At least one sample in four seconds.
  std::uint32_t max_shift = kMaxSampleLevel;
  while (plan.base_hertz > 0 && max_shift > 0 && plan.base_hertz / static_cast<double>(1u << max_shift) < 0.25) {
    --max_shift;
  }
  control_ = RateControl({plan.share, std::max<std::uint64_t>(plan.hold_ticks, 1), max_shift}, tick);
  number_ = 0;
  last_lowered_ = 0;
  pending_ = {};
  open(tick);
  note(SamplingCause::kStart, tick);
  started_.store(true, std::memory_order_relaxed);
  return true;
}

void SampleStore::open(std::uint64_t tick) noexcept {
  // The first bin of each level is unavailable to others, so there are few levels when there are few bins per thread.
  constexpr std::size_t kBinsPerLevel = 4;
  const std::size_t levels = pool_.bins() / (kBinsPerLevel * std::max(plan_.threads, 1u));
  epoch_.open(control_.shift(),
              static_cast<std::uint32_t>(std::clamp<std::size_t>(levels, 1, HierarchicalBuffer::kMaxLevels)));
  epoch_begin_ = tick;
  number_ = number_ >> control_.shift() << control_.shift();
  shift_.store(control_.shift(), std::memory_order_relaxed);
}

Stored SampleStore::lose() noexcept {
  count(no_room_);
  ledger_.count_recorded(PackClass::kSamples, 1);
  ledger_.count_dropped(PackClass::kSamples, 1);
  return Stored::kNoRoom;
}

// Room for the next sample, which already has its number; drops lower levels if necessary.
[[gnu::always_inline]] inline std::byte* SampleStore::room(std::uint64_t tick) noexcept {
  for (;;) {
    const std::uint64_t number = number_ + (std::uint64_t{1} << epoch_.lowest());
    std::byte* const room = epoch_.room(level_of(number), record_bytes_, tick);
    if (room != nullptr) [[likely]] {
      number_ = number;
      return room;
    }
    if (drop(shortage(), tick) == 0) return nullptr;
  }
}

// Writes the record of sample number_ with as much of pending_ as it can hold; the rest stays there.
[[gnu::always_inline]] inline void SampleStore::put(std::byte* room, const SampleRecord& sample) noexcept {
  const std::uint32_t lowest = epoch_.lowest();
  const auto taken_of = [lowest](std::uint64_t& pending) {
    const std::uint64_t units = std::min<std::uint64_t>(pending >> lowest, UINT32_MAX);
    pending -= units << lowest;
    return static_cast<std::uint32_t>(units);
  };
  SampleRecord& record = *new (room) SampleRecord(sample);
  record.weight = taken_of(pending_.weight);
  record.kernel = taken_of(pending_.kernel);
  record.level = static_cast<std::uint8_t>(std::min(level_of(number_), kMaxSampleLevel));
  for (std::size_t i = 0; i < plan_.counter_count; ++i) {
    const std::uint64_t value = pending_.counters[i] >> lowest;
    pending_.counters[i] -= value << lowest;
    std::memcpy(room + sizeof(sample) + i * sizeof(value), &value, sizeof(value));
  }
}

Stored SampleStore::store(const SampleRecord& sample, std::uint64_t weight, std::uint64_t kernel,
                          std::span<const std::uint64_t> counters) noexcept {
  pending_.weight += weight;
  pending_.kernel += kernel;
  for (std::size_t i = 0; i < counters.size(); ++i) pending_.counters[i] += counters[i];
  const Use use(*this);
  // Unavailable: this handler interrupted its own thread while sending, or another thread holds the store.
  std::byte* const at = use ? room(sample.tick) : nullptr;
  if (at == nullptr) return lose();
  bins_.store(epoch_.bins(), std::memory_order_relaxed);
  put(at, sample);
  count(stored_);
  return Stored::kStored;
}

// Returns the number of bins freed: 0 means none, and maybe a lower rate from now on.
std::uint32_t SampleStore::drop(SamplingCause cause, std::uint64_t tick) noexcept {
  if (!epoch_.can_drop() || epoch_.lowest_bins() == 0) {
    // Others hold the memory. Only a lower rate helps, but not after every lost sample.
    if (last_lowered_ != 0 && tick - last_lowered_ < plan_.hold_ticks / 4) return 0;
    last_lowered_ = tick;
    if (control_.lower(tick)) reopen(cause, tick);
    return 0;
  }
  if (!control_.lower(tick)) return 0;
  last_lowered_ = tick;
  const HierarchicalBuffer::Dropped dropped = epoch_.drop_lowest();
  ledger_.count_recorded(PackClass::kSamples, dropped.records);
  ledger_.count_dropped(PackClass::kSamples, dropped.records);
  number_ = number_ >> control_.shift() << control_.shift();
  shift_.store(control_.shift(), std::memory_order_relaxed);
  bins_.store(epoch_.bins(), std::memory_order_relaxed);
  note(cause, tick);
  return dropped.bins;
}

void SampleStore::account(std::uint64_t handler_ticks, std::uint64_t tick) noexcept {
  const Use use(*this);
  if (!use || !control_.cost(handler_ticks, tick)) return;
  control_.set(control_.wanted(), tick);
  reopen(SamplingCause::kCost, tick);
}

void SampleStore::set_rate_shift(std::uint32_t shift, SamplingCause cause, std::uint64_t tick) noexcept {
  const Use use(*this);
  if (!use || shift == control_.shift()) return;
  control_.set(shift, tick);
  reopen(cause, tick);
}

bool SampleStore::set_base(double hertz, std::uint64_t period, double share, std::uint64_t tick) noexcept {
  const Use use(*this);
  if (!use) return false;
  // With the old shift a lower rate would stay too low for long.
  const double before = plan_.base_hertz > 0 ? plan_.base_hertz
                                             : 1.0 / static_cast<double>(std::max<std::uint64_t>(plan_.base_period, 1));
  const double after = hertz > 0 ? hertz : 1.0 / static_cast<double>(std::max<std::uint64_t>(period, 1));
  std::uint32_t shift = control_.shift();
  for (double ratio = before / after; ratio >= 2 && shift > 0; ratio /= 2) --shift;
  plan_.base_hertz = hertz;
  plan_.base_period = period;
  plan_.share = share;
  control_.set_share(share);
  control_.set(shift, tick);
  reopen(SamplingCause::kUser, tick);
  return true;
}

// The control chose another rate: stored samples keep their weight, and a new epoch begins.
void SampleStore::reopen(SamplingCause cause, std::uint64_t tick) noexcept {
  seal();
  open(tick);
  note(cause, tick);
}

void SampleStore::seal() noexcept {
  BinList sealed;
  const auto [bins, records] = epoch_.seal(sealed);
  bins_.store(0, std::memory_order_relaxed);
  if (bins == 0) return;
  ledger_.count_recorded(PackClass::kSamples, records);
  for (Bin* bin = sealed.take_first(pool_); bin != nullptr; bin = sealed.take_first(pool_)) {
    PackHeader& header = bin->header;
    header.pack_class = static_cast<std::uint16_t>(PackClass::kSamples);
    header.thread = thread_;
    header.counter_count = plan_.counter_count;
    header.level = epoch_.lowest();
    header.weight = 1u << header.level;
    ready_.append(pool_, bin);
  }
}

void SampleStore::note(SamplingCause cause, std::uint64_t tick) noexcept {
  // If they were not taken in time, the latest must be right.
  SamplingDefinition& change = changes_[std::min(change_count_, kChanges - 1)];
  change_count_ = std::min(change_count_ + 1, kChanges);
  const std::uint32_t shift = control_.shift();
  change = {thread_,
            cause,
            tick,
            plan_.base_hertz / static_cast<double>(1u << shift),
            plan_.base_period << shift,
            shift,
            static_cast<std::uint32_t>(pool_.free_bins()),
            static_cast<std::uint32_t>(pool_.bins()),
            0,
            control_.mean_cost()};
}

Bin* SampleStore::next_bin(bool seals, std::uint64_t age_ticks, std::uint64_t tick) {
  const Use use(*this);
  if (!use) return nullptr;
  if (ready_.bins == 0 && seals && epoch_.bins() != 0 &&
      (epoch_.full_bins() != 0 || tick - epoch_begin_ >= age_ticks)) {
    // Before the seal: these bins become free only after they were sent.
    const auto free_share = static_cast<double>(pool_.free_bins()) / static_cast<double>(pool_.bins());
    seal();
    const bool rises = control_.rise(free_share, tick);
    open(tick);
    if (rises) note(SamplingCause::kRise, tick);
  }
  return ready_.take_first(pool_);
}

std::uint32_t SampleStore::make_room(std::uint64_t tick) {
  const Use use(*this);
  if (!use || !epoch_.can_drop() || epoch_.lowest_bins() == 0) return 0;
  return drop(shortage(), tick);
}

std::size_t SampleStore::take_changes(std::span<SamplingDefinition> changes) {
  const Use use(*this);
  if (!use) return 0;
  const std::size_t count = std::min(change_count_, changes.size());
  std::copy_n(changes_.begin(), count, changes.begin());
  std::copy(changes_.begin() + static_cast<std::ptrdiff_t>(count),
            changes_.begin() + static_cast<std::ptrdiff_t>(change_count_), changes_.begin());
  change_count_ -= count;
  return count;
}

void SampleStore::force_unlock() noexcept {
  if (!used_.test_and_set(std::memory_order_acquire)) return used_.clear(std::memory_order_release);
  const std::uint64_t records = epoch_.records();
  ledger_.count_recorded(PackClass::kSamples, records);
  ledger_.count_dropped(PackClass::kSamples, records);
  epoch_.abandon();
  used_.clear(std::memory_order_release);
}

void SampleStore::flush(std::uint64_t tick) {
  const Use use(*this, kWaits);
  if (!use) return;
  seal();
  open(tick);
}

}  // namespace ardoise::instrument
