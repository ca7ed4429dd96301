// Counts of records recorded, dropped and aggregated in this process, and of the time spent waiting: the numbers that
// every pack header carries.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {

// Counters only grow. Readers need no order between them: each is a sum of its own, and final values are read after all
// recording threads were synchronised with.
class Ledger {
 public:
  void count_recorded(PackClass pack_class, std::uint64_t records) { add(recorded_[index(pack_class)], records); }
  void count_dropped(PackClass pack_class, std::uint64_t records) { add(dropped_[index(pack_class)], records); }
  void count_aggregated(PackClass pack_class, std::uint64_t records) { add(aggregated_[index(pack_class)], records); }
  void count_blocked(std::uint64_t ticks) { add(blocked_, ticks); }
  void count_sending(std::uint64_t ticks) { add(sending_, ticks); }

  void count_mpi_thread() { mpi_threads_.fetch_add(1, std::memory_order_relaxed); }

  void declare(PackHeader& header) const {
    header.mpi = of(PackClass::kMpi);
    header.posix = of(PackClass::kPosix);
    header.samples = of(PackClass::kSamples);
    header.blocked_ticks = blocked_.load(std::memory_order_relaxed);
    header.sending_ticks = sending_.load(std::memory_order_relaxed);
    if (mpi_threads_.load(std::memory_order_relaxed) > 1) header.flags |= kSeveralMpiThreads;
  }
  // recorded_ is read last: a concurrent count adds to it first, so the other counters cannot exceed it.
  [[nodiscard]] ClassLedger of(PackClass pack_class) const {
    const std::uint64_t dropped = dropped_[index(pack_class)].load(std::memory_order_acquire);
    const std::uint64_t aggregated = aggregated_[index(pack_class)].load(std::memory_order_acquire);
    return {recorded_[index(pack_class)].load(std::memory_order_relaxed), dropped, aggregated};
  }

 private:
  using Counter = std::atomic<std::uint64_t>;
  static std::size_t index(PackClass pack_class) { return static_cast<std::size_t>(pack_class); }
  // Release pairs with the acquire in of().
  static void add(Counter& counter, std::uint64_t value) { counter.fetch_add(value, std::memory_order_release); }

  std::array<Counter, kPackClassCount> recorded_{}, dropped_{}, aggregated_{};
  Counter blocked_{}, sending_{};
  std::atomic<std::uint32_t> mpi_threads_{};
};

}  // namespace ardoise::instrument
