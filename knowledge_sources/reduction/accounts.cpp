#include "knowledge_sources/reduction/accounts.hpp"

#include <algorithm>

#include "instrument/format/event_reader.hpp"
#include "instrument/format/posix_functions.hpp"
#include "knowledge_sources/calls/aggregate_bytes.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::PackClass;

constexpr std::uint32_t kVersion = 4;
constexpr auto kMpi = static_cast<std::uint16_t>(PackClass::kMpi),
               kPosix = static_cast<std::uint16_t>(PackClass::kPosix);

void add(RankLedger& into, const RankLedger& more) {
  RankLedger sum = more.next_sequence > into.next_sequence ? more : into;  // as the latest pack says
  sum.packs = into.packs + more.packs;
  sum.pack_bytes = into.pack_bytes + more.pack_bytes;
  sum.mpi_received = into.mpi_received + more.mpi_received;
  sum.posix_received = into.posix_received + more.posix_received;
  sum.samples_received = into.samples_received + more.samples_received;
  sum.queries = into.queries + more.queries;
  sum.mpi_ticks = into.mpi_ticks + more.mpi_ticks;
  sum.first_mpi_ticks = into.first_mpi_ticks + more.first_mpi_ticks;
  sum.posix_ticks = into.posix_ticks + more.posix_ticks;
  sum.first_posix_ticks = into.first_posix_ticks + more.first_posix_ticks;
  sum.last_tick = std::max(into.last_tick, more.last_tick);
  sum.threads = std::max(into.threads, more.threads);
  sum.complete = std::max(into.complete, more.complete);
  into = sum;
}

}  // namespace

Accounts::Accounts(const AnalysisContext& context)
    : level_(context.level), ranks_(context.ranks), recorded_(context.ranks) {}

void Accounts::attach(LevelSources& sources) {
  slots_.create(sources, [] { return std::make_unique<Recorded::Scratch>(); });
  const auto add_span = [this](Recorded::Scratch& scratch, const auto& span) {
    add(scratch, span);
    recorded_.add(*span.header, scratch);
  };
  subscribe<MpiSpan>(sources, "accounts", level_, kMpiEvents, slots_, add_span);
  subscribe<PosixSpan>(sources, "accounts", level_, kPosixEvents, slots_, add_span);
  subscribe<AggregateSpan>(sources, "accounts", level_, kAggregates, slots_, add_span);
  subscribe<TotalsSpan>(sources, "accounts", level_, kTotals, slots_,
                        [this](Recorded::Scratch&, const TotalsSpan& span) { set_totals(span); });
}

void Accounts::note(const instrument::PackView& pack) {
  const auto& header = pack.header();
  RankLedger said{.packs = 1,
                  .pack_bytes = pack.bytes(),
                  .next_sequence = header.sequence + 1,
                  .mpi = header.mpi,
                  .posix = header.posix,
                  .samples = header.samples,
                  .blocked_ticks = header.blocked_ticks,
                  .sending_ticks = header.sending_ticks,
                  .origin_tick = header.origin_tick,
                  .last_tick = header.last_tick,
                  .ticks_per_second = header.ticks_per_second,
                  .threads = header.thread + 1,
                  .complete = (header.flags & instrument::kLastPack) != 0 ? 1U : 0U};
  if (pack.pack_class() == PackClass::kMpi) said.mpi_received = header.counted_records();
  if (pack.pack_class() == PackClass::kPosix) said.posix_received = header.record_count;
  if (pack.pack_class() == PackClass::kSamples) said.samples_received = header.record_count;
  if (pack.pack_class() == PackClass::kAggregates) {
    for (const auto& record : pack.records<instrument::AggregateRecord>()) {
      (record.part == instrument::AggregatePart::kPosix ? said.posix_received : said.mpi_received) += record.records;
      // A call has one record or more, except for a counted query, which may share its sum with recorded ones.
      if (record.calls > record.records) said.queries += record.calls - record.records;
    }
  }
  const auto guard = locks_.lock(header.rank);
  knowledge_sources::add(ranks_[header.rank].ledger, said);
}

void Accounts::add(Recorded::Scratch& scratch, const MpiSpan& span) {
  const auto sums = [&](const instrument::MpiRecord& record) -> Sums& {
    return recorded_.at(scratch, *span.header, key(kMpi, static_cast<std::uint16_t>(record.function())));
  };
  std::uint64_t ticks = 0;
  instrument::for_each_event(
      span.records,
      [&](const instrument::MpiEvent& event) {
        ticks += event.duration;
        const Moved bytes = moved(event);
        sums(event.record).add({1, event.duration, bytes.sent, bytes.received, bytes.size});
      },
      [&](const instrument::CompletionRecord& completion) {
        if (!tells_bytes(completion)) return;
        const auto bytes = completion_bytes(completion);
        sums(record_of(completion.word)).add({0, 0, 0, bytes, bytes});
      },
      [](const instrument::NeighbourExtension&) {},
      [&](const instrument::StartedExtension& started) {
        sums(record_of(started.word)).add({0, 0, started.bytes, 0, started.bytes});
      });
  add_ticks(*span.header, ticks, 0);
}

void Accounts::add_ticks(const instrument::PackHeader& header, std::uint64_t mpi, std::uint64_t posix) {
  const bool is_first = header.thread == 0;
  const auto guard = locks_.lock(header.rank);
  RankLedger& ledger = ranks_[header.rank].ledger;
  ledger.mpi_ticks += mpi;
  ledger.posix_ticks += posix;
  ledger.first_mpi_ticks += is_first ? mpi : 0;
  ledger.first_posix_ticks += is_first ? posix : 0;
}

Accounts::Sums Accounts::posix_sums(std::uint16_t function, std::uint64_t calls, std::uint64_t ticks,
                                    std::uint64_t bytes) {
  using enum instrument::PosixCategory;
  const auto category = instrument::kPosixFunctions[function].category;
  return {calls, ticks, category == kWrite ? bytes : 0, category == kRead ? bytes : 0, bytes};
}

void Accounts::add(Recorded::Scratch& scratch, const PosixSpan& span) {
  std::uint64_t ticks = 0;
  for (const auto& record : span.records) {
    if (record.function >= instrument::kPosixFunctionCount) continue;
    ticks += record.duration;
    recorded_.at(scratch, *span.header, key(kPosix, record.function))
        .add(posix_sums(record.function, 1, record.duration, record.bytes));
  }
  add_ticks(*span.header, 0, ticks);
}

void Accounts::add(Recorded::Scratch& scratch, const AggregateSpan& span) {
  using instrument::AggregatePart;
  std::uint64_t mpi = 0, io = 0;
  for (const auto& record : span.records) {
    if (!is_known(record)) continue;
    const bool posix = record.part == AggregatePart::kPosix;
    if (posix && record.function >= instrument::kPosixFunctionCount) continue;
    Sums sums;
    if (posix) {
      io += record.ticks;
      sums = posix_sums(record.function, record.calls, record.ticks, record.bytes);
    } else if (record.part == AggregatePart::kCall) {
      const Moved bytes = moved(record);
      mpi += record.ticks;
      sums = {record.calls, record.ticks, bytes.sent, bytes.received, bytes.size};
    } else if (record.part == AggregatePart::kCompletion && tells_bytes(record)) {
      sums = {0, 0, 0, record.bytes, record.bytes};
    } else if (record.part == AggregatePart::kStarted) {
      sums = {0, 0, record.bytes, 0, record.bytes};
    } else {
      continue;
    }
    recorded_.at(scratch, *span.header, key(posix ? kPosix : kMpi, record.function)).add(sums);
  }
  add_ticks(*span.header, mpi, io);
}

void Accounts::set_totals(const TotalsSpan& span) {
  std::vector<Recorded::Entry> totals;
  for (const auto& record : span.records) {
    if ((record.record_class != kMpi && record.record_class != kPosix) || record.calls == 0) continue;
    totals.push_back({key(record.record_class, record.function),
                      {record.calls, record.ticks, record.bytes_sent, record.bytes_received, record.bytes}});
  }
  sum_up(totals);
  const auto guard = locks_.lock(span.header->rank);
  Told& told = ranks_[span.header->rank];
  if (span.header->sequence >= told.totals_sequence) {
    told.totals_sequence = span.header->sequence + 1;
    told.totals = std::move(totals);
  }
}

FunctionSums Accounts::function_sums(const Recorded::Entry& entry) {
  const auto& [key, sums] = entry;
  return {static_cast<std::uint16_t>(key >> 16),
          static_cast<std::uint16_t>(key),
          0,
          sums.calls,
          sums.ticks,
          sums.bytes_sent,
          sums.bytes_received,
          sums.bytes};
}

std::vector<FunctionSums> Accounts::sums(std::uint32_t rank) const {
  std::vector<Recorded::Entry> all = ranks_[rank].totals;
  for (const auto& recorded : recorded_.of(rank)) {
    const auto place = std::ranges::lower_bound(all, recorded.key, {}, &Recorded::Entry::key);
    if (place == all.end() || place->key != recorded.key) {
      all.insert(place, recorded);
    } else if (recorded.sums.calls > place->sums.calls) {
      *place = recorded;
    }
  }
  std::vector<FunctionSums> result;
  std::ranges::transform(all, std::back_inserter(result), function_sums);
  return result;
}

std::vector<std::byte> Accounts::partial() const {
  ByteWriter out;
  out.put(kVersion);
  recorded_.write(out);
  for (const Told& told : ranks_) {
    const bool present = told.ledger.packs != 0;
    out.put(static_cast<std::uint8_t>(present));
    if (!present) continue;
    out.put(told.ledger);
    out.put(told.totals_sequence);
    out.put_array(std::span<const Recorded::Entry>(told.totals));
  }
  return out.take();
}

void Accounts::absorb(std::span<const std::byte> partial) {
  ByteReader in(partial, "accounts");
  in.expect_version(kVersion);
  Recorded recorded(static_cast<std::uint32_t>(ranks_.size()));
  recorded.read(in);
  std::vector<Told> others(ranks_.size());
  for (Told& told : others) {
    if (in.get<std::uint8_t>() == 0) continue;
    told.ledger = in.get<RankLedger>();
    told.totals_sequence = in.get<std::uint64_t>();
    told.totals = in.get_array<Recorded::Entry>();
    in.check(is_summed_up(told.totals), "lists functions out of order");
  }
  in.expect_end();
  recorded_.merge(recorded);
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    Told &into = ranks_[rank], &from = others[rank];
    knowledge_sources::add(into.ledger, from.ledger);
    if (from.totals_sequence > into.totals_sequence) {
      into.totals_sequence = from.totals_sequence;
      into.totals = std::move(from.totals);
    }
  }
}

}  // namespace ardoise::knowledge_sources
