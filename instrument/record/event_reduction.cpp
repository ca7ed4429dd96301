// See event_reduction.hpp.
#include "instrument/record/event_reduction.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "instrument/format/event_reader.hpp"

namespace ardoise::instrument {
namespace {

template <class Record>
constexpr PackClass class_of() {
  return std::is_same_v<Record, MpiRecord> ? PackClass::kMpi : PackClass::kPosix;
}

// Whether a record stands for a call; the others share the fate of the call before them, but for what stands before its
// call.
bool is_call(const PosixRecord&) { return true; }
bool is_call(const MpiRecord& record) {
  return record.shape() != Shape::kCompletion && record.shape() != Shape::kExtension;
}

bool is_ahead(const PosixRecord&) { return false; }

// Also of what stands before its call.
bool is_of(const FunctionSet& functions, const PosixRecord& record) { return functions.has(true, record.function); }
bool is_of(const FunctionSet& functions, const MpiRecord& record) {
  if (!is_context(record)) return functions.has(false, record.function());
  const auto context = as<ContextExtension>(record);
  return functions.has(context.record_class == static_cast<std::uint16_t>(PackClass::kPosix), context.function);
}

// What the program said of itself stays where that is possible: there is little of it, and it cuts what is left. So
// does what was sampled between calls that stay.
bool is_kept(const PosixRecord&) { return false; }
bool is_kept(const MpiRecord& record) { return is_mark(record) || is_sampled(record); }

// The rank of the call that a record belongs to. To be asked for the records in their order, each before it moves.
template <class Record, class Rank>
class RankOfCall {
 public:
  RankOfCall(std::span<const Record> records, Rank rank) : records_(records), rank_(std::move(rank)) {}

  std::size_t operator()(const Record& record) {
    const auto at = static_cast<std::size_t>(&record - records_.data());
    if (at >= decided_ && (is_call(record) || is_ahead(record))) {
      for (decided_ = at; decided_ < records_.size() && is_ahead(records_[decided_]);) ++decided_;
      if (decided_ < records_.size() && is_call(records_[decided_])) current_ = rank_(records_[decided_]);
    }
    return current_;
  }

 private:
  std::span<const Record> records_;
  Rank rank_;
  std::size_t current_ = 0, decided_ = 0;  // decided_: of the records up to there the rank is that one
};

}  // namespace

void CallDepths::set(std::uint32_t call_site, std::uint32_t depth) {
  auto& slot_depth = depths_[slot(call_site)];
  const auto wanted = static_cast<std::uint8_t>(std::clamp(depth, 1u, 255u));
  std::uint8_t known = slot_depth.load(std::memory_order_relaxed);
  while ((known == 0 || wanted < known) &&
         !slot_depth.compare_exchange_weak(known, wanted, std::memory_order_relaxed)) {
  }
}

void EventReduction::fold_at_once(const FunctionSet& functions) noexcept {
  for (std::size_t i = 0; i < at_once_.size(); ++i) at_once_[i].store(functions.words()[i], std::memory_order_relaxed);
  folds_some_.store(functions != FunctionSet(), std::memory_order_relaxed);
}

FunctionSet EventReduction::folded_at_once() const noexcept {
  FunctionSet::Words words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = at_once_[i].load(std::memory_order_relaxed);
  return FunctionSet(words);
}

template <class Record>
std::size_t EventReduction::rank(const Record& record) const {
  if (by_ == ReduceBy::kDepth) return kRanks - 1 - depths_.of(record.call_site);
  return static_cast<std::size_t>(std::bit_width(record.duration));
}

template <class Record>
void EventReduction::fold(std::span<const Record> records, std::uint64_t first_tick, std::uint64_t last_tick,
                          BinList& full) {
  if (records.empty()) return;
  const std::size_t folded = aggregates_.fold(records, first_tick, last_tick, full);
  ledger_.count_recorded(class_of<Record>(), records.size());
  if (folded != 0) ledger_.count_aggregated(class_of<Record>(), folded);
  if (folded != records.size()) ledger_.count_dropped(class_of<Record>(), records.size() - folded);
}

template <class Record, class Stays>
std::size_t EventReduction::keep(std::span<Record> records, std::uint64_t first_tick, std::uint64_t last_tick,
                                 BinList& full, Stays&& stays) {
  std::size_t kept = 0, run = 0;  // `run`: begin of the records that are to be folded next
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!stays(records[i])) continue;
    // Folded before the record moves: its new place may be theirs.
    fold(std::span<const Record>(records.subspan(run, i - run)), first_tick, last_tick, full);
    run = i + 1;
    records[kept++] = records[i];
  }
  fold(std::span<const Record>(records.subspan(run)), first_tick, last_tick, full);
  return kept;
}

template <class Record>
std::size_t EventReduction::reduce(std::span<Record> records, std::uint64_t first_tick, std::uint64_t last_tick,
                                   bool all, BinList& full) {
  if (all) return keep(records, first_tick, last_tick, full, [](const Record&) { return false; });
  if (by_ == ReduceBy::kClass)
    return keep(records, first_tick, last_tick, full, [](const Record& record) { return is_kept(record); });
  // The records of each rank, then the first rank that stays: at least half of all records go.
  const auto rank_of_call = [&] {
    return RankOfCall(std::span<const Record>(records), [this](const Record& call) { return rank(call); });
  };
  std::array<std::uint32_t, kRanks> counts{};
  auto rank_to_count = rank_of_call();
  for (const Record& record : records) ++counts[rank_to_count(record)];
  std::size_t stays = 0, going = 0;
  while (stays < kRanks && 2 * going < records.size()) going += counts[stays++];
  return keep(records, first_tick, last_tick, full, [&, rank_of = rank_of_call()](const Record& record) mutable {
    return rank_of(record) >= stays || is_kept(record);
  });
}

template <class Record>
std::size_t EventReduction::reduce_chosen(std::span<Record> records, std::uint64_t first_tick, std::uint64_t last_tick,
                                          BinList& full) {
  const FunctionSet chosen = folded_at_once();
  bool stays = true;
  return keep(records, first_tick, last_tick, full, [&](const Record& record) {
    if (is_call(record) || is_ahead(record)) stays = !is_of(chosen, record);
    return stays || is_kept(record);
  });
}

template std::size_t EventReduction::reduce(std::span<MpiRecord>, std::uint64_t, std::uint64_t, bool, BinList&);
template std::size_t EventReduction::reduce(std::span<PosixRecord>, std::uint64_t, std::uint64_t, bool, BinList&);
template std::size_t EventReduction::reduce_chosen(std::span<MpiRecord>, std::uint64_t, std::uint64_t, BinList&);
template std::size_t EventReduction::reduce_chosen(std::span<PosixRecord>, std::uint64_t, std::uint64_t, BinList&);

}  // namespace ardoise::instrument
