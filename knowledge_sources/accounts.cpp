// See accounts.hpp.
#include "knowledge_sources/accounts.hpp"

#include <algorithm>
#include <array>

#include "instrument/format/event_reader.hpp"
#include "instrument/format/posix_functions.hpp"
#include "knowledge_sources/aggregate_bytes.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::PackClass;

constexpr std::uint32_t kVersion = 2;
constexpr std::size_t kMpiFunctions = std::size_t{1} << instrument::kFunctionBits;

std::uint32_t key(const FunctionSums& sums) { return std::uint32_t{sums.record_class} << 16 | sums.function; }
bool in_order(const FunctionSums& a, const FunctionSums& b) { return key(a) < key(b); }

void add(FunctionSums& into, const FunctionSums& more) {
  into.calls += more.calls;
  into.ticks += more.ticks;
  into.bytes_sent += more.bytes_sent;
  into.bytes_received += more.bytes_received;
  into.bytes += more.bytes;
}

void add(std::vector<FunctionSums>& into, const FunctionSums& more) {
  const auto place = std::ranges::lower_bound(into, more, in_order);
  if (place != into.end() && key(*place) == key(more)) {
    add(*place, more);
  } else {
    into.insert(place, more);
  }
}

bool is_sums_class(std::uint16_t record_class) {
  return record_class == static_cast<std::uint16_t>(PackClass::kMpi) ||
         record_class == static_cast<std::uint16_t>(PackClass::kPosix);
}

}  // namespace

// The sums of one pack, a slot for each function number.
class Accounts::Scratch {
 public:
  FunctionSums& at(std::size_t function) {
    FunctionSums& sums = slots_[function];
    if (sums.calls == 0 && !in_use_[function]) {
      in_use_[function] = true;
      used_.push_back(static_cast<std::uint16_t>(function));
    }
    return sums;
  }
  // Hands out what was added, times `weight`, and is empty again.
  void flush(PackClass record_class, std::uint64_t weight, std::vector<FunctionSums>& into) {
    for (const auto function : used_) {
      FunctionSums& sums = slots_[function];
      add(into, {static_cast<std::uint16_t>(record_class), function, 0, sums.calls * weight, sums.ticks * weight,
                 sums.bytes_sent * weight, sums.bytes_received * weight, sums.bytes * weight});
      sums = {};
      in_use_[function] = false;
    }
    used_.clear();
  }

 private:
  std::array<FunctionSums, kMpiFunctions> slots_{};
  std::array<bool, kMpiFunctions> in_use_{};
  std::vector<std::uint16_t> used_;
};

Accounts::Accounts(const AnalysisContext& context) : level_(context.level), ranks_(context.ranks) {}
Accounts::~Accounts() = default;

void Accounts::attach(LevelSources& sources) {
  for (unsigned worker = 0; worker < sources.workers(); ++worker) scratch_.push_back(std::make_unique<Scratch>());
  sources.add({"accounts@" + level_,
               {blackboard::entry_type(level_, kMpiEvents)},
               [this](const blackboard::Context& context, std::span<blackboard::EntryRef> entries) {
                 add_mpi(*scratch_[context.worker], entries[0].as<MpiSpan>());
               }});
  sources.add({"accounts@" + level_,
               {blackboard::entry_type(level_, kPosixEvents)},
               [this](const blackboard::Context& context, std::span<blackboard::EntryRef> entries) {
                 add_posix(*scratch_[context.worker], entries[0].as<PosixSpan>());
               }});
  sources.add({"accounts@" + level_,
               {blackboard::entry_type(level_, kAggregates)},
               [this](const blackboard::Context&, std::span<blackboard::EntryRef> entries) {
                 add_aggregates(entries[0].as<AggregateSpan>());
               }});
  sources.add({"accounts@" + level_,
               {blackboard::entry_type(level_, kTotals)},
               [this](const blackboard::Context&, std::span<blackboard::EntryRef> entries) {
                 set_totals(entries[0].as<TotalsSpan>());
               }});
}

void Accounts::note(const instrument::PackView& pack) {
  const auto& header = pack.header();
  const auto guard = locks_.lock(header.rank);
  RankLedger& ledger = ranks_[header.rank].ledger;
  ledger.packs += 1;
  ledger.pack_bytes += pack.bytes();
  if (pack.pack_class() == PackClass::kMpi) ledger.mpi_received += header.record_count;
  if (pack.pack_class() == PackClass::kPosix) ledger.posix_received += header.record_count;
  if (pack.pack_class() == PackClass::kAggregates) {
    for (const auto& record : pack.records<instrument::AggregateRecord>()) {
      (record.part == instrument::AggregatePart::kPosix ? ledger.posix_received : ledger.mpi_received) +=
          record.records;
      // A call is one record or more, but for a counted query, which may share its sum with recorded ones.
      if (record.calls > record.records) ledger.queries += record.calls - record.records;
    }
  }
  if (pack.pack_class() == PackClass::kSamples) ledger.samples_received += header.record_count;
  ledger.last_tick = std::max(ledger.last_tick, header.last_tick);
  ledger.threads = std::max(ledger.threads, header.thread + 1);
  ledger.complete = ledger.complete || (header.flags & instrument::kLastPack) != 0;
  if (header.sequence >= ledger.next_sequence) {
    ledger.next_sequence = header.sequence + 1;
    ledger.mpi = header.mpi;
    ledger.posix = header.posix;
    ledger.samples = header.samples;
    ledger.blocked_ticks = header.blocked_ticks;
    ledger.origin_tick = header.origin_tick;
    ledger.ticks_per_second = header.ticks_per_second;
  }
}

void Accounts::add_mpi(Scratch& scratch, const MpiSpan& span) {
  instrument::for_each_event(
      span.records,
      [&](const instrument::MpiEvent& event) {
        FunctionSums& sums = scratch.at(event.record.function());
        const Moved bytes = moved(event);
        sums.calls += 1;
        sums.ticks += event.duration;
        sums.bytes_sent += bytes.sent;
        sums.bytes_received += bytes.received;
        sums.bytes += bytes.size;
      },
      [&](const instrument::CompletionRecord& completion) {
        if (!tells_bytes(completion)) return;
        FunctionSums& sums = scratch.at(record_of(completion.word).function());
        sums.bytes_received += completion_bytes(completion);
        sums.bytes += completion_bytes(completion);
      },
      [](const instrument::NeighbourExtension&) {},
      [&](const instrument::StartedExtension& started) {
        FunctionSums& sums = scratch.at(record_of(started.word).function());
        sums.bytes_sent += started.bytes;
        sums.bytes += started.bytes;
      });
  const auto guard = locks_.lock(span.header->rank);
  scratch.flush(PackClass::kMpi, span.header->weight, ranks_[span.header->rank].recorded);
}

void Accounts::add_posix(Scratch& scratch, const PosixSpan& span) {
  for (const auto& record : span.records) {
    if (record.function >= instrument::kPosixFunctionCount) continue;
    FunctionSums& sums = scratch.at(record.function);
    const auto category = instrument::kPosixFunctions[record.function].category;
    sums.calls += 1;
    sums.ticks += record.duration;
    if (category == instrument::PosixCategory::kWrite) sums.bytes_sent += record.bytes;
    if (category == instrument::PosixCategory::kRead) sums.bytes_received += record.bytes;
    sums.bytes += record.bytes;
  }
  const auto guard = locks_.lock(span.header->rank);
  scratch.flush(PackClass::kPosix, span.header->weight, ranks_[span.header->rank].recorded);
}

void Accounts::add_aggregates(const AggregateSpan& span) {
  using instrument::AggregatePart;
  const auto guard = locks_.lock(span.header->rank);
  auto& recorded = ranks_[span.header->rank].recorded;
  for (const auto& record : span.records) {
    if (!is_known(record)) continue;
    FunctionSums sums{static_cast<std::uint16_t>(PackClass::kMpi), record.function, 0, 0, 0, 0, 0, 0};
    switch (record.part) {
      case AggregatePart::kCall: {
        const Moved bytes = moved(record);
        sums.calls = record.calls;
        sums.ticks = record.ticks;
        sums.bytes_sent = bytes.sent;
        sums.bytes_received = bytes.received;
        sums.bytes = bytes.size;
        break;
      }
      case AggregatePart::kCompletion:
        if (!tells_bytes(record)) continue;
        sums.bytes_received = sums.bytes = record.bytes;
        break;
      case AggregatePart::kStarted:
        sums.bytes_sent = sums.bytes = record.bytes;
        break;
      case AggregatePart::kNeighbour:
        continue;
      case AggregatePart::kPosix: {
        if (record.function >= instrument::kPosixFunctionCount) continue;
        const auto category = instrument::kPosixFunctions[record.function].category;
        sums.record_class = static_cast<std::uint16_t>(PackClass::kPosix);
        sums.calls = record.calls;
        sums.ticks = record.ticks;
        if (category == instrument::PosixCategory::kWrite) sums.bytes_sent = record.bytes;
        if (category == instrument::PosixCategory::kRead) sums.bytes_received = record.bytes;
        sums.bytes = record.bytes;
        break;
      }
    }
    add(recorded, sums);
  }
}

void Accounts::set_totals(const TotalsSpan& span) {
  std::vector<FunctionSums> totals;
  totals.reserve(span.records.size());
  for (const auto& record : span.records) {
    if (is_sums_class(record.record_class) && record.calls != 0) add(totals, record);
  }
  const auto guard = locks_.lock(span.header->rank);
  RankAccount& account = ranks_[span.header->rank];
  if (span.header->sequence >= account.totals_sequence) {
    account.totals_sequence = span.header->sequence + 1;
    account.totals = std::move(totals);
  }
}

std::vector<FunctionSums> Accounts::sums(std::uint32_t rank) const {
  const RankAccount& account = ranks_[rank];
  std::vector<FunctionSums> result = account.totals;
  for (const FunctionSums& recorded : account.recorded) {
    const auto place = std::ranges::lower_bound(result, recorded, in_order);
    if (place == result.end() || key(*place) != key(recorded)) {
      result.insert(place, recorded);
    } else if (recorded.calls > place->calls) {
      *place = recorded;
    }
  }
  return result;
}

std::vector<std::byte> Accounts::partial() const {
  ByteWriter out;
  out.put(kVersion);
  out.put_count(ranks_.size());
  for (const RankAccount& account : ranks_) {
    const bool present = account.ledger.packs != 0;
    out.put(static_cast<std::uint8_t>(present));
    if (!present) continue;
    out.put(account.ledger.packs);
    out.put(account.ledger.pack_bytes);
    out.put(account.ledger.mpi_received);
    out.put(account.ledger.posix_received);
    out.put(account.ledger.queries);
    out.put(account.ledger.samples_received);
    out.put(account.ledger.next_sequence);
    out.put(account.ledger.mpi);
    out.put(account.ledger.posix);
    out.put(account.ledger.samples);
    out.put(account.ledger.blocked_ticks);
    out.put(account.ledger.origin_tick);
    out.put(account.ledger.last_tick);
    out.put(account.ledger.ticks_per_second);
    out.put(account.ledger.threads);
    out.put(static_cast<std::uint8_t>(account.ledger.complete));
    out.put(account.totals_sequence);
    out.put_array(std::span<const FunctionSums>(account.totals));
    out.put_array(std::span<const FunctionSums>(account.recorded));
  }
  return out.take();
}

std::vector<Accounts::RankAccount> Accounts::read(std::span<const std::byte> partial, std::size_t ranks) {
  ByteReader in(partial, "accounts");
  in.expect_version(kVersion);
  in.check(in.get_count(1) == ranks, "is of a program with another number of ranks");
  std::vector<RankAccount> accounts(ranks);
  for (RankAccount& account : accounts) {
    if (in.get<std::uint8_t>() == 0) continue;
    account.ledger.packs = in.get<std::uint64_t>();
    account.ledger.pack_bytes = in.get<std::uint64_t>();
    account.ledger.mpi_received = in.get<std::uint64_t>();
    account.ledger.posix_received = in.get<std::uint64_t>();
    account.ledger.queries = in.get<std::uint64_t>();
    account.ledger.samples_received = in.get<std::uint64_t>();
    account.ledger.next_sequence = in.get<std::uint64_t>();
    account.ledger.mpi = in.get<instrument::ClassLedger>();
    account.ledger.posix = in.get<instrument::ClassLedger>();
    account.ledger.samples = in.get<instrument::ClassLedger>();
    account.ledger.blocked_ticks = in.get<std::uint64_t>();
    account.ledger.origin_tick = in.get<std::uint64_t>();
    account.ledger.last_tick = in.get<std::uint64_t>();
    account.ledger.ticks_per_second = in.get<double>();
    account.ledger.threads = in.get<std::uint32_t>();
    account.ledger.complete = in.get<std::uint8_t>() != 0;
    account.totals_sequence = in.get<std::uint64_t>();
    for (auto* list : {&account.totals, &account.recorded}) {
      *list = in.get_array<FunctionSums>();
      in.check(std::ranges::adjacent_find(*list, std::not_fn(in_order)) == list->end() &&
                   std::ranges::all_of(*list, [](const auto& sums) { return is_sums_class(sums.record_class); }),
               "lists functions out of order");
    }
  }
  in.expect_end();
  return accounts;
}

void Accounts::merge(RankAccount& into, RankAccount&& from) {
  RankLedger& ledger = into.ledger;
  ledger.packs += from.ledger.packs;
  ledger.pack_bytes += from.ledger.pack_bytes;
  ledger.mpi_received += from.ledger.mpi_received;
  ledger.posix_received += from.ledger.posix_received;
  ledger.queries += from.ledger.queries;
  ledger.samples_received += from.ledger.samples_received;
  ledger.last_tick = std::max(ledger.last_tick, from.ledger.last_tick);
  ledger.threads = std::max(ledger.threads, from.ledger.threads);
  ledger.complete = ledger.complete || from.ledger.complete;
  if (from.ledger.next_sequence > ledger.next_sequence) {
    ledger.next_sequence = from.ledger.next_sequence;
    ledger.mpi = from.ledger.mpi;
    ledger.posix = from.ledger.posix;
    ledger.samples = from.ledger.samples;
    ledger.blocked_ticks = from.ledger.blocked_ticks;
    ledger.origin_tick = from.ledger.origin_tick;
    ledger.ticks_per_second = from.ledger.ticks_per_second;
  }
  if (from.totals_sequence > into.totals_sequence) {
    into.totals_sequence = from.totals_sequence;
    into.totals = std::move(from.totals);
  }
  for (const FunctionSums& sums : from.recorded) add(into.recorded, sums);
}

void Accounts::absorb(std::span<const std::byte> partial) {
  auto others = read(partial, ranks_.size());
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) merge(ranks_[rank], std::move(others[rank]));
}

}  // namespace ardoise::knowledge_sources
