// Turns the records of a full bin into aggregates when no other bin is free, so that the bin can be reused. The program
// does not wait, and sums stay exact. Used by ThreadRecorder.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "instrument/buffer/ledger.hpp"
#include "instrument/record/aggregates.hpp"
#include "instrument/settings/function_set.hpp"

namespace ardoise::instrument {

// Thread safe.
class EventReduction {
 public:
  // From now on the records of these functions become sums, even if bins are free. Relaxed: checked for each bin.
  void fold_at_once(const FunctionSet& functions) noexcept;
  [[nodiscard]] FunctionSet folded_at_once() const noexcept;
  [[nodiscard]] bool folds_some_at_once() const noexcept { return folds_some_.load(std::memory_order_relaxed); }

  EventReduction(Aggregates& aggregates, Ledger& ledger) : aggregates_(aggregates), ledger_(ledger) {}

  // Folds records of a bin (MpiRecord or PosixRecord) and counts them as recorded and aggregated. Moves marks and
  // samples, uncounted, to the front, and returns how many. Records without room in the tables count as dropped. all:
  // folds marks and samples too. Full tables go to `full`.
  template <class Record>
  [[nodiscard]] std::size_t reduce(std::span<Record> records, std::uint64_t first_tick, std::uint64_t last_tick,
                                   bool all, BinList& full);
  // As reduce(), but only for functions that are folded at once; all others scope.
  template <class Record>
  [[nodiscard]] std::size_t reduce_chosen(std::span<Record> records, std::uint64_t first_tick, std::uint64_t last_tick,
                                          BinList& full);

 private:
  // Folds all records for which stays(record) is false, in order.
  template <class Record, class Stays>
  [[nodiscard]] std::size_t keep(std::span<Record> records, std::uint64_t first_tick, std::uint64_t last_tick,
                                 BinList& full, Stays&& stays);
  template <class Record>
  void fold(std::span<const Record> records, std::uint64_t first_tick, std::uint64_t last_tick, BinList& full);

  std::array<std::atomic<std::uint64_t>, FunctionSet::kWords> at_once_{};
  std::atomic<bool> folds_some_ = false;
  Aggregates& aggregates_;
  Ledger& ledger_;
};

}  // namespace ardoise::instrument
