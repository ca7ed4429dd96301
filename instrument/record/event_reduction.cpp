#include "instrument/record/event_reduction.hpp"

#include <type_traits>

#include "instrument/format/event_reader.hpp"

namespace ardoise::instrument {
namespace {

template <class Record>
constexpr PackClass class_of() {
  return std::is_same_v<Record, MpiRecord> ? PackClass::kMpi : PackClass::kPosix;
}

// True if a record stands for a call. Extensions share the fate of the call before them, except those that precede
// their call.
bool is_call(const PosixRecord&) { return true; }
bool is_call(const MpiRecord& record) {
  return record.shape() != Shape::kCompletion && record.shape() != Shape::kExtension;
}

bool is_ahead(const PosixRecord&) { return false; }

// True also for extensions that precede their call.
bool is_of(const FunctionSet& functions, const PosixRecord& record) { return functions.has(true, record.function); }
bool is_of(const FunctionSet& functions, const MpiRecord& record) {
  if (!is_context(record)) return functions.has(false, record.function());
  const auto context = as<ContextExtension>(record);
  return functions.has(context.record_class == static_cast<std::uint16_t>(PackClass::kPosix), context.function);
}

// Marks stay if possible: there are few, and they divide the rest into pieces. Samples between calls that stay do so
// too.
bool is_kept(const PosixRecord&) { return false; }
bool is_kept(const MpiRecord& record) { return is_mark(record) || is_sampled(record); }

}  // namespace

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
  std::size_t kept = 0, run = 0;  // `run`: begin of the records to be folded next
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!stays(records[i])) continue;
    // Folded before the record moves, which may overwrite them.
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
  return keep(records, first_tick, last_tick, full, [all](const Record& record) { return !all && is_kept(record); });
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
