// The temporal map: the share of time that groups of ranks spent in each class of calls, over the run. Memory is
// bounded for any run time (TimeBins) and number of ranks (kMaxGroups). Reads mpi_events and posix_events of its level;
// contributes Application::temporal.
//
// Time: a pack has the tick of the program's time 0 on its process's clock (PackHeader::origin_tick, with the clock's
// offset applied by the process) and the clock's rate, so records are placed when they arrive, without definitions. The
// error is that of these two: the offset's error is in Quality::clock_error_seconds, and a rate known to 1e-6 at the
// time of sending causes 1 ms after 1000 s, less than a bin at that length. Packs without them are left out, and a
// notice counts their records.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/calls/aggregate_bytes.hpp"
#include "knowledge_sources/calls/functions.hpp"
#include "knowledge_sources/containers/counted.hpp"
#include "knowledge_sources/containers/time_bins.hpp"
#include "knowledge_sources/interface/pack_time.hpp"
#include "knowledge_sources/interface/plugin.hpp"
#include "knowledge_sources/interface/worker_slots.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kMaxGroups = 64;

constexpr std::array<const char*, 6> kClasses{"point-to-point", "wait", "collective", "one-sided", "io", "other"};
enum Class : std::uint8_t { kPointToPoint, kWait, kCollective, kOneSided, kIo, kOther };

// Class of each MPI function number.
std::array<std::uint8_t, std::size_t{1} << instrument::kFunctionBits> class_table() {
  std::array<std::uint8_t, std::size_t{1} << instrument::kFunctionBits> table{};
  for (std::uint32_t function = 0; function < table.size(); ++function) {
    const std::string category = function_info(instrument::PackClass::kMpi, function).category;
    const auto place = std::ranges::find(kClasses, category == "neighbourhood" ? "collective" : category);
    table[function] =
        place == kClasses.end() ? std::uint8_t{kOther} : static_cast<std::uint8_t>(place - kClasses.begin());
  }
  return table;
}

// Converts ticks since the program's origin to nanoseconds in fixed point: exact to 2^-32 of the rate, without floating
// point per event.
class TickScale {
 public:
  explicit TickScale(double ns_per_tick)
      : factor_(static_cast<std::uint64_t>(std::min(ns_per_tick, 4e9) * 4294967296.0 + 0.5)) {}
  [[nodiscard]] std::uint64_t ns(std::uint64_t ticks) const {
    const auto product = static_cast<Wide>(ticks) * factor_ >> 32;
    return product < kLatest ? static_cast<std::uint64_t>(product) : kLatest;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t kLatest = (std::uint64_t{1} << 63) - 1;
  std::uint64_t factor_;
};

class Temporal final : public Analysis {
 public:
  explicit Temporal(const AnalysisContext& context)
      : level_(context.level),
        ticks_per_second_(context.ticks_per_second),
        ranks_(std::max(context.ranks, 1u)),
        ranks_per_group_((ranks_ + kMaxGroups - 1) / kMaxGroups),
        groups_((ranks_ + ranks_per_group_ - 1) / ranks_per_group_) {}

  void attach(LevelSources& sources) override;
  std::vector<std::byte> partial() const override { return write_partial(kVersion, merged()); }
  void absorb(std::span<const std::byte> partial) override;
  void contribute(const Resolver& resolver, reports::Application& application) const override;

 private:
  struct Results {
    explicit Results(std::uint32_t groups) : bins(groups, TimeBins(kClasses.size())) {}
    void merge(const Results& other) {
      unplaced += other.unplaced;
      for (std::size_t group = 0; group < bins.size(); ++group) bins[group].merge(other.bins[group]);
    }
    void write(ByteWriter& out) const {
      out.put_count(bins.size());
      out.put(unplaced);
      for (const TimeBins& each : bins) each.write(out);
    }
    void read(ByteReader& in) {
      in.check(in.get_count(1) == bins.size(), "belongs to a program with another number of ranks");
      unplaced = in.get<std::uint64_t>();
      for (TimeBins& each : bins) each.read(in);
    }
    std::uint64_t unplaced = 0;  // records of packs without an origin
    std::vector<TimeBins> bins;  // by group
  };

  void add(Results& results, const auto& span) const;
  void place(TimeBins& bins, const TickScale& scale, const MpiSpan& span) const;
  void place(TimeBins& bins, const TickScale& scale, const PosixSpan& span) const;
  void place(TimeBins& bins, const TickScale& scale, const AggregateSpan& span) const;
  [[nodiscard]] Results merged() const;
  [[nodiscard]] std::vector<TimeBins> available(const Resolver& resolver, unsigned shift) const;

  std::string level_;
  double ticks_per_second_;
  std::uint32_t ranks_, ranks_per_group_, groups_;
  const std::array<std::uint8_t, std::size_t{1} << instrument::kFunctionBits> class_of_ = class_table();
  WorkerSlots<Results> slots_;
  std::unique_ptr<Results> absorbed_ = std::make_unique<Results>(groups_);
};

void Temporal::attach(LevelSources& sources) {
  slots_.create(sources, [this] { return std::make_unique<Results>(groups_); });
  const auto add_span = [this](Results& results, const auto& span) { add(results, span); };
  subscribe<MpiSpan>(sources, "temporal", level_, kMpiEvents, slots_, add_span);
  subscribe<PosixSpan>(sources, "temporal", level_, kPosixEvents, slots_, add_span);
  subscribe<AggregateSpan>(sources, "temporal", level_, kAggregates, slots_, add_span);
}

// Intervals that begin before the origin (in MPI_Init) count from there.
void add_interval(TimeBins& bins, Class row, const TickScale& scale, std::uint64_t origin, std::uint64_t begin,
                  std::uint64_t duration, std::uint64_t weight) {
  const std::uint64_t end = begin + duration;
  if (end <= origin || end < begin) [[unlikely]]
    return;
  const std::uint64_t from = begin > origin ? scale.ns(begin - origin) : 0;
  const std::uint64_t to = scale.ns(end - origin);
  bins.add(row, from, to, weight);
}

// Places the records of a pack: place(bins, scale); a pack without an origin is counted.
void Temporal::add(Results& results, const auto& span) const {
  const auto& header = *span.header;
  if (header.origin_tick == 0) {
    results.unplaced += span.records.size();
    return;
  }
  place(results.bins[header.rank / ranks_per_group_], TickScale(ns_per_tick(header, ticks_per_second_)), span);
}

void Temporal::place(TimeBins& bins, const TickScale& scale, const MpiSpan& span) const {
  const auto& header = *span.header;
  instrument::for_each_event(
      span.records,
      [&](const instrument::MpiEvent& event) {
        add_interval(bins, static_cast<Class>(class_of_[event.record.function()]), scale, header.origin_tick,
                     event.record.begin, event.duration, header.weight);
      },
      [](const instrument::CompletionRecord&) {}, [](const instrument::NeighbourExtension&) {},
      [](const instrument::StartedExtension&) {});
}

void Temporal::place(TimeBins& bins, const TickScale& scale, const PosixSpan& span) const {
  const auto& header = *span.header;
  for (const auto& record : span.records) {
    add_interval(bins, kIo, scale, header.origin_tick, record.begin, record.duration, header.weight);
  }
}

// Only the begin of the first and the end of the last aggregated call are known: their time is spread evenly.
void Temporal::place(TimeBins& bins, const TickScale& scale, const AggregateSpan& span) const {
  const auto& header = *span.header;
  if (header.last_tick <= header.origin_tick) return;
  std::array<std::uint64_t, kClasses.size()> ticks{};
  for (const auto& record : span.records) {
    if (!is_known(record)) continue;
    const bool posix = record.part == instrument::AggregatePart::kPosix;
    ticks[posix ? std::size_t{kIo} : class_of_[record.function]] += record.ticks;
  }
  const std::uint64_t from =
      header.first_tick > header.origin_tick ? scale.ns(header.first_tick - header.origin_tick) : 0;
  const std::uint64_t to = std::max(scale.ns(header.last_tick - header.origin_tick), from + 1);
  constexpr std::uint64_t kSlices = 64;
  for (std::size_t row = 0; row < ticks.size(); ++row) {
    const std::uint64_t total = scale.ns(ticks[row]);
    for (std::uint64_t slice = 0; slice < kSlices && total != 0; ++slice) {
      const auto part = [slice](std::uint64_t all, std::uint64_t more) {
        return all / kSlices * (slice + more) + all % kSlices * (slice + more) / kSlices;
      };
      const std::uint64_t begin = from + part(to - from, 0), end = from + part(to - from, 1);
      const std::uint64_t time = part(total, 1) - part(total, 0);
      // Several threads may have spent more time than elapsed.
      const std::uint64_t length = std::max<std::uint64_t>(end - begin, 1);
      if (time / length != 0) bins.add(row, begin, begin + length, time / length);
      bins.add(row, begin, begin + time % length, 1);
    }
  }
}

Temporal::Results Temporal::merged() const {
  Results all = *absorbed_;
  for (const auto& slot : slots_) all.merge(*slot);
  return all;
}

void Temporal::absorb(std::span<const std::byte> partial) {
  Results other(groups_);
  read_partial(partial, "temporal", kVersion, other);
  absorbed_->merge(other);
}

// The nanoseconds that the ranks of each group existed in each bin: from the origin to the start of MPI_Finalize, or to
// the last record if that is unknown.
std::vector<TimeBins> Temporal::available(const Resolver& resolver, unsigned shift) const {
  std::vector<TimeBins> result(groups_, TimeBins(1));
  for (TimeBins& bins : result) bins.widen_to(shift);
  for (std::uint32_t rank = 0; rank < ranks_ && rank < resolver.ranks(); ++rank) {
    const RankLedger& ledger = resolver.ledger(rank);
    const ProcessFacts& facts = resolver.process(rank);
    const std::uint64_t end = std::max(facts.has_clock ? facts.clock.end_tick : 0, ledger.last_tick);
    if (ledger.origin_tick == 0 || end <= ledger.origin_tick) continue;
    const TickScale scale(resolver.seconds_per_tick(rank) * 1e9);
    result[rank / ranks_per_group_].add(0, 0, scale.ns(end - ledger.origin_tick));
  }
  return result;
}

void Temporal::contribute(const Resolver& resolver, reports::Application& application) const {
  Results all = merged();
  if (all.unplaced != 0) {
    application.quality.notices.push_back(counted(all.unplaced, "record", "is", "are") +
                                          " not in the temporal map: the start of the program is unknown.");
  }
  unsigned shift = TimeBins::kFirstShift;
  for (const TimeBins& bins : all.bins) shift = std::max(shift, bins.empty() ? 0u : bins.shift());
  std::vector<TimeBins> whole = available(resolver, shift);
  for (const TimeBins& bins : whole) shift = std::max(shift, bins.shift());
  std::size_t bins_used = 0;
  for (std::uint32_t group = 0; group < groups_; ++group) {
    all.bins[group].widen_to(shift);
    whole[group].widen_to(shift);
    for (std::size_t bin = 0; bin < TimeBins::kBins && !whole[group].empty(); ++bin) {
      if (whole[group].at(0, bin) != 0) bins_used = std::max(bins_used, bin + 1);
    }
  }

  reports::TemporalMap& map = application.temporal;
  map.bin_seconds = std::ldexp(1e-9, static_cast<int>(shift));
  map.bins = static_cast<std::uint32_t>(bins_used);
  map.ranks_per_group = ranks_per_group_;
  map.classes.assign(kClasses.begin(), kClasses.end());
  map.groups = groups_;
  map.share.assign(kClasses.size() * groups_ * bins_used, 0.0f);
  for (std::uint32_t group = 0; group < groups_; ++group) {
    if (all.bins[group].empty() || whole[group].empty()) continue;
    for (std::size_t row = 0; row < kClasses.size(); ++row) {
      for (std::size_t bin = 0; bin < bins_used; ++bin) {
        const auto time = static_cast<double>(whole[group].at(0, bin));
        const double share = time > 0 ? static_cast<double>(all.bins[group].at(row, bin)) / time : 0;
        map.share[(row * groups_ + group) * bins_used + bin] = static_cast<float>(std::min(share, 1.0));
      }
    }
  }
}

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(temporal, "1.0", ardoise::knowledge_sources::Temporal)
