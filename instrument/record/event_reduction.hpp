// What happens to the records of a full bin when no other bin can be had: all of them, or the less interesting half,
// become aggregates, and the bin is used again. So the program goes on without waiting, and sums stay exact.
//
// Which half is the user's choice, as in OTFX (Wagner, Nagel: Strategies for Real-Time Event Reduction, Euro-Par 2012):
// by class, all records of the bin's class go; by depth, those of the deepest call sites go first; by duration, the
// shortest calls go first. Used by ThreadRecorder.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "instrument/buffer/ledger.hpp"
#include "instrument/record/aggregates.hpp"
#include "instrument/settings/function_set.hpp"
#include "instrument/settings/settings.hpp"

namespace ardoise::instrument {

// How deep in the program's calls a call site is, as it was at its first call: frames up to the thread's beginning.
// Call sites that share a slot share the smaller depth, so none is folded for another's depth. Thread safe; relaxed,
// since a depth that comes late only makes a record stay.
class CallDepths {
 public:
  void set(std::uint32_t call_site, std::uint32_t depth);
  [[nodiscard]] std::uint32_t of(std::uint32_t call_site) const {
    return depths_[slot(call_site)].load(std::memory_order_relaxed);
  }

 private:
  static std::size_t slot(std::uint32_t call_site) { return call_site * 0x9E3779B1u >> 20; }
  std::array<std::atomic<std::uint8_t>, 4096> depths_{};  // 0: unknown
};

// Thread safe.
class EventReduction {
 public:
  // From now on the records of these functions become sums, whether there is a bin or not. Relaxed: each bin asks
  // again.
  void fold_at_once(const FunctionSet& functions) noexcept;
  [[nodiscard]] FunctionSet folded_at_once() const noexcept;
  [[nodiscard]] bool folds_some_at_once() const noexcept { return folds_some_.load(std::memory_order_relaxed); }

  EventReduction(ReduceBy by, const CallDepths& depths, Aggregates& aggregates, Ledger& ledger)
      : by_(by), depths_(depths), aggregates_(aggregates), ledger_(ledger) {}

  // Folds records of a bin (MpiRecord or PosixRecord) and counts them as recorded and aggregated; moves those that
  // stay, at most half of the calls and all marks, uncounted, to the front, and returns how many. Records that the
  // tables have no bin for are counted as dropped. all: none is to stay, no mark either. Tables that are full go to
  // `full`.
  template <class Record>
  [[nodiscard]] std::size_t reduce(std::span<Record> records, std::uint64_t first_tick, std::uint64_t last_tick,
                                   bool all, BinList& full);
  // As reduce(), those of functions that are folded at once; all others stay.
  template <class Record>
  [[nodiscard]] std::size_t reduce_chosen(std::span<Record> records, std::uint64_t first_tick, std::uint64_t last_tick,
                                          BinList& full);

 private:
  // Folds all for which stays(record) is false, asked in their order.
  template <class Record, class Stays>
  [[nodiscard]] std::size_t keep(std::span<Record> records, std::uint64_t first_tick, std::uint64_t last_tick,
                                 BinList& full, Stays&& stays);
  template <class Record>
  void fold(std::span<const Record> records, std::uint64_t first_tick, std::uint64_t last_tick, BinList& full);
  // What goes first has the smaller number, below kRanks.
  static constexpr std::size_t kRanks = 256;
  template <class Record>
  [[nodiscard]] std::size_t rank(const Record& record) const;

  std::array<std::atomic<std::uint64_t>, FunctionSet::kWords> at_once_{};
  std::atomic<bool> folds_some_ = false;
  const ReduceBy by_;
  const CallDepths& depths_;
  Aggregates& aggregates_;
  Ledger& ledger_;
};

}  // namespace ardoise::instrument
