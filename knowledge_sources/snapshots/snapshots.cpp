// The profile over the iterations of a program's main loop, which is found by itself: what is kept of each rank
// (call_series.hpp) is cut at the end, when all ranks are known (main_loop.hpp). Contributes Application::snapshots.
//
// Followed is the first thread of a process; calls of other threads, and of I/O, go to the iteration of their time.
// Where records became sums for want of memory the moments are lost: such a rank is not in step.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/functions.hpp"
#include "knowledge_sources/in_order.hpp"
#include "knowledge_sources/pack_time.hpp"
#include "knowledge_sources/plugin.hpp"
#include "knowledge_sources/rank_locks.hpp"
#include "knowledge_sources/snapshots/call_series.hpp"
#include "knowledge_sources/snapshots/main_loop.hpp"
#include "knowledge_sources/worker_slots.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kMostGroups = 64;
constexpr std::size_t kMostCalls = 20, kMostWaiting = 4096;
constexpr std::uint64_t kIsPosix = std::uint64_t{1} << 63;

// For a program of so many ranks: some 15 MB in all, for each some hundred iterations of as many calls.
std::size_t room_of_rank(std::uint32_t ranks) {
  return std::clamp<std::size_t>((std::size_t{1} << 19) / std::max(ranks, 1u), 512, 8192);
}

std::uint64_t key_of(bool is_posix, std::uint32_t function, std::uint32_t call_site) {
  return (is_posix ? kIsPosix : 0) | std::uint64_t{function} << 32 | call_site;
}

struct Call {
  std::uint64_t key;
  std::int64_t begin;
  CallSums sums;
  bool is_visit = true;  // may begin an iteration
};

// Of calls without communication some are counted only after a while.
bool is_visit(const instrument::MpiRecord& record) { return record.shape() != instrument::Shape::kLocal; }

// Not thread safe.
class RankSeries {
 public:
  explicit RankSeries(std::uint32_t ranks) : series_(room_of_rank(ranks)) {}

  void add_first_thread(std::uint64_t order, std::vector<Call> calls) {
    const auto deliver = [this](const std::vector<Call>& ordered, bool after_gap) {
      is_whole_ = is_whole_ && !after_gap;
      for (const Call& call : ordered) {
        if (call.begin > series_.last_begin()) place_until(call.begin);
        if (call.is_visit) {
          series_.visit(call.key, call.begin, call.sums);
        } else {
          series_.add(call.key, call.begin, call.sums);
        }
      }
    };
    const std::size_t weight = 1 + calls.size();
    if (packs_.take(order)) {
      deliver(calls, false);
      packs_.deliver_ready(deliver);
    } else {
      packs_.add(order, std::move(calls), weight, deliver);
    }
  }
  // Of any other thread, or of I/O: waits until the first thread has come by.
  void add_other(const Call& call) {
    others_.emplace(call.begin, call);
    if (others_.size() > kMostWaiting) place_until(others_.begin()->first + 1);
  }
  void lacks_calls() { is_whole_ = false; }

  [[nodiscard]] bool is_whole() const { return is_whole_; }
  // When nothing more comes.
  [[nodiscard]] const CallSeries& series() {
    place_until(INT64_MAX);
    return series_;
  }
  void write(ByteWriter& out) const {
    RankSeries all = *this;
    all.place_until(INT64_MAX);
    out.put(std::uint32_t{all.is_whole_});
    out.put(all.packs_.next());
    all.series_.write(out);
  }
  void read(ByteReader& in) {
    is_whole_ = in.get<std::uint32_t>() != 0;
    packs_.begin_with(in.get<std::uint64_t>());
    series_.read(in);
  }

 private:
  void place_until(std::int64_t time) {
    while (!others_.empty() && others_.begin()->first < time) {
      const Call call = others_.extract(others_.begin()).mapped();
      series_.add(call.key, call.begin, call.sums);
    }
  }

  CallSeries series_;
  InOrder<std::vector<Call>> packs_;
  std::multimap<std::int64_t, Call> others_;
  bool is_whole_ = true;
};

class Snapshots final : public Analysis {
 public:
  explicit Snapshots(const AnalysisContext& context)
      : level_(context.level), ticks_per_second_(context.ticks_per_second), ranks_(context.ranks) {}

  void attach(LevelSources& sources) override {
    slots_.create(sources, [] { return std::make_unique<std::vector<Call>>(); });
    subscribe<MpiSpan>(sources, "snapshots", level_, kMpiEvents, slots_,
                       [this](std::vector<Call>& calls, const MpiSpan& span) { add(calls, span); });
    subscribe<PosixSpan>(sources, "snapshots", level_, kPosixEvents, slots_,
                         [this](std::vector<Call>& calls, const PosixSpan& span) { add(calls, span); });
    subscribe<AggregateSpan>(sources, "snapshots", level_, kAggregates, slots_,
                             [this](std::vector<Call>&, const AggregateSpan& span) { add(span); });
  }
  std::vector<std::byte> partial() const override;
  void absorb(std::span<const std::byte> partial) override;
  void contribute(const Resolver& resolver, reports::Application& application) const override;

 private:
  using OfRanks = std::vector<std::unique_ptr<RankSeries>>;

  [[nodiscard]] RankSeries& of_rank(std::uint32_t rank) {
    if (!ranks_[rank]) ranks_[rank] = std::make_unique<RankSeries>(static_cast<std::uint32_t>(ranks_.size()));
    return *ranks_[rank];
  }
  void add(std::vector<Call>& calls, const MpiSpan& span);
  void add(std::vector<Call>& calls, const PosixSpan& span);
  void add(const AggregateSpan& span);

  std::string level_;
  double ticks_per_second_;
  OfRanks ranks_;  // nullptr: nothing of it came here
  RankLocks locks_;
  WorkerSlots<std::vector<Call>> slots_;  // of a pack, to use their memory again
};

// Ticks of a pack on the program's time axis.
class PackTime {
 public:
  PackTime(const instrument::PackHeader& header, double ticks_per_second)
      : origin_(header.origin_tick), ns_per_tick_(ns_per_tick(header, ticks_per_second)) {}
  [[nodiscard]] std::int64_t at(std::uint64_t tick) const {
    return static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(tick - origin_)) * ns_per_tick_);
  }
  [[nodiscard]] std::uint64_t length(std::uint64_t ticks) const {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }

 private:
  std::uint64_t origin_;
  double ns_per_tick_;
};

void Snapshots::add(std::vector<Call>& calls, const MpiSpan& span) {
  const auto& header = *span.header;
  const PackTime time(header, ticks_per_second_);
  calls.clear();
  instrument::for_each_event(
      span.records,
      [&](const instrument::MpiEvent& event) {
        const auto& record = event.record;
        calls.push_back({key_of(false, record.function(), record.call_site),
                         time.at(record.begin),
                         {header.weight, time.length(event.duration) * header.weight, event.bytes * header.weight},
                         is_visit(record)});
      },
      [](const instrument::CompletionRecord&) {}, [](const instrument::NeighbourExtension&) {},
      [](const instrument::StartedExtension&) {});
  const auto guard = locks_.lock(header.rank);
  RankSeries& rank = of_rank(header.rank);
  if ((header.flags & instrument::kFolded) != 0 || header.origin_tick == 0) rank.lacks_calls();
  if (header.thread == 0) return rank.add_first_thread(header.order, calls);
  for (const Call& call : calls) rank.add_other(call);
}

void Snapshots::add(std::vector<Call>& calls, const PosixSpan& span) {
  const auto& header = *span.header;
  const PackTime time(header, ticks_per_second_);
  calls.clear();
  for (const auto& record : span.records) {
    calls.push_back({key_of(true, record.function, record.call_site),
                     time.at(record.begin),
                     {header.weight, time.length(record.duration) * header.weight, record.bytes * header.weight}});
  }
  const auto guard = locks_.lock(header.rank);
  for (const Call& call : calls) of_rank(header.rank).add_other(call);
}

// Queries that were only counted make no gap.
void Snapshots::add(const AggregateSpan& span) {
  const bool has_records = std::ranges::any_of(span.records, [](const auto& each) { return each.records != 0; });
  if (!has_records) return;
  const auto guard = locks_.lock(span.header->rank);
  of_rank(span.header->rank).lacks_calls();
}

std::vector<std::byte> Snapshots::partial() const {
  ByteWriter out;
  out.put(kVersion);
  out.put_count(
      static_cast<std::size_t>(std::ranges::count_if(ranks_, [](const auto& each) { return each != nullptr; })));
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank]) continue;
    out.put(rank);
    ranks_[rank]->write(out);
  }
  return out.take();
}

void Snapshots::absorb(std::span<const std::byte> partial) {
  ByteReader in(partial, "snapshots");
  in.expect_version(kVersion);
  std::map<std::uint32_t, std::unique_ptr<RankSeries>> read;
  for (auto left = in.get_count(8); left != 0; --left) {
    const auto rank = in.get<std::uint32_t>();
    in.check(rank < ranks_.size(), "names a rank that is not there");
    auto& series = read[rank] = std::make_unique<RankSeries>(static_cast<std::uint32_t>(ranks_.size()));
    series->read(in);
  }
  in.expect_end();
  // All packs of a rank come to one analyzer.
  for (auto& [rank, series] : read) ranks_[rank] = std::move(series);
}

double in_seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

// A rank that is in step, cut into the rounds of its loop.
struct InStep {
  std::uint32_t rank;
  const CallSeries* series;
  Loop loop;
  std::vector<Round> rounds;
};

// Those of the ranks that make as many rounds as most.
std::vector<InStep> ranks_in_step(const std::vector<std::unique_ptr<RankSeries>>& ranks) {
  std::map<std::uint64_t, std::uint32_t> votes;
  for (const auto& rank : ranks) {
    if (!rank || !rank->is_whole()) continue;
    if (const auto loop = find_loop(rank->series())) ++votes[loop->iterations];
  }
  if (votes.empty()) return {};
  const auto most = std::ranges::max_element(votes, {}, [](const auto& each) { return each.second; });
  std::vector<InStep> in_step;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank] || !ranks[rank]->is_whole()) continue;
    const CallSeries& series = ranks[rank]->series();
    if (const auto loop = find_loop(series, most->first))
      in_step.push_back({rank, &series, *loop, rounds_of(series, *loop)});
  }
  return in_step;
}

void Snapshots::contribute(const Resolver& resolver, reports::Application& application) const {
  const auto in_step = ranks_in_step(ranks_);
  if (in_step.empty()) return;
  reports::Snapshots& result = application.snapshots;
  const Loop& first = in_step.front().loop;
  const std::uint32_t shift =
      std::ranges::max(in_step, {}, [](const InStep& each) { return each.loop.shift; }).loop.shift;
  std::uint64_t iterations = 0;
  for (const InStep& each : in_step) iterations = std::max(iterations, each.loop.iterations);
  const std::size_t count = ((iterations - 1) >> shift) + 1;
  const auto ranks = static_cast<double>(in_step.size());

  const std::uint64_t head = in_step.front().series->sites()[first.head].key;
  const Location& place = resolver.call_site(static_cast<std::uint32_t>(head));
  result.trigger = "iteration";
  result.function = function_info(instrument::PackClass::kMpi, static_cast<std::uint32_t>(head >> 32)).name;
  result.symbol = place.symbol;
  result.source_file = place.source_file;
  result.line = place.line;
  result.iterations = iterations;
  result.per_snapshot = std::uint64_t{1} << shift;
  result.ranks = static_cast<std::uint32_t>(in_step.size());
  result.call_sites = first.sites;
  for (const InStep& each : in_step) result.regular += each.loop.regular / ranks;
  for (auto* const list :
       {&result.begin_seconds, &result.seconds, &result.longest_seconds, &result.mpi_seconds, &result.io_seconds})
    list->assign(count, 0);
  result.ranks_per_group = (application.ranks + kMostGroups - 1) / kMostGroups;
  result.groups = (application.ranks + result.ranks_per_group - 1) / result.ranks_per_group;
  result.own_seconds.assign(result.groups * count, 0);
  std::vector<std::uint32_t> ranks_of_group(result.groups);
  for (const InStep& each : in_step) ++ranks_of_group[each.rank / result.ranks_per_group];

  std::map<std::uint64_t, reports::SnapshotCalls> calls;
  std::vector<double> seconds(count);
  for (const InStep& each : in_step) {
    std::ranges::fill(seconds, 0.0);
    const std::uint32_t group = each.rank / result.ranks_per_group;
    const double of_group = ranks_of_group[group];
    for (std::size_t i = 0; i < each.rounds.size(); ++i) {
      const Round& round = each.rounds[i];
      const std::size_t at = std::min(i >> (shift - each.loop.shift), count - 1);
      const double took = in_seconds(round.end - round.begin);
      if (seconds[at] == 0) result.begin_seconds[at] += in_seconds(round.begin) / ranks;
      seconds[at] += took;
      double in_calls = 0;
      for (std::uint32_t piece = round.first_piece; piece < round.end_piece; ++piece) {
        each.series->for_each_call(each.series->pieces()[piece], [&](std::uint32_t site, const CallSums& sums) {
          const std::uint64_t key = each.series->sites()[site].key;
          reports::SnapshotCalls& call = calls[key];
          if (call.calls.empty()) {
            call.calls.assign(count, 0);
            call.bytes.assign(count, 0);
            call.seconds.assign(count, 0);
          }
          const double spent = static_cast<double>(sums.ns) * 1e-9;
          call.calls[at] += sums.calls;
          call.bytes[at] += sums.bytes;
          call.seconds[at] += spent;
          in_calls += spent;
          ((key & kIsPosix) != 0 ? result.io_seconds : result.mpi_seconds)[at] += spent / ranks;
        });
      }
      result.own_seconds[group * count + at] += std::max(0.0, took - in_calls) / of_group;
    }
    for (std::size_t at = 0; at < count; ++at) {
      result.seconds[at] += seconds[at] / ranks;
      result.longest_seconds[at] = std::max(result.longest_seconds[at], seconds[at]);
    }
  }

  for (auto& [key, call] : calls) {
    const Location& location = resolver.call_site(static_cast<std::uint32_t>(key));
    const auto pack_class = (key & kIsPosix) != 0 ? instrument::PackClass::kPosix : instrument::PackClass::kMpi;
    call.function = function_info(pack_class, static_cast<std::uint32_t>((key & ~kIsPosix) >> 32)).name;
    call.symbol = location.symbol;
    call.source_file = location.source_file;
    call.line = location.line;
    call.module = location.module;
    call.offset = location.offset;
    result.calls.push_back(std::move(call));
  }
  const auto cost = [](const reports::SnapshotCalls& call) {
    double sum = 0;
    for (const double each : call.seconds) sum += each;
    return sum;
  };
  std::ranges::stable_sort(result.calls, std::ranges::greater{}, cost);
  if (result.calls.size() > kMostCalls) result.calls.resize(kMostCalls);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(snapshots, "1.0", ardoise::knowledge_sources::Snapshots)
