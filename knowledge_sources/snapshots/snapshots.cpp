// The profile over the iterations of a program's main loop, which is found by itself: what is kept of each rank
// (call_series.hpp) is cut at the end, when all ranks are known (main_loop.hpp). Contributes Application::snapshots.
//
// Followed is the first thread of a process; calls of other threads, and of I/O, go to the iteration of their time.
// Where records became sums for want of memory the moments are lost: such a rank is not in step.
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

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

  void add_first_thread(std::uint64_t order, const std::vector<Call>& calls) {
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
    if (packs_.take(order)) {
      deliver(calls, false);
      packs_.deliver_ready(deliver);
    } else {
      packs_.add(order, calls, 1 + calls.size(), deliver);
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
  void write(ByteWriter& out) {
    place_until(INT64_MAX);
    out.put(std::uint32_t{is_whole_});
    out.put(packs_.next());
    series_.write(out);
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

// Those of the ranks that make as many rounds as most, one more or less.
std::vector<InStep> ranks_in_step(const std::vector<std::unique_ptr<RankSeries>>& ranks) {
  std::vector<std::vector<Loop>> loops(ranks.size());
  std::map<std::uint64_t, std::uint32_t> votes;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank] || !ranks[rank]->is_whole()) continue;
    loops[rank] = loops_of(ranks[rank]->series());
    if (const Loop* const main = main_loop(loops[rank])) ++votes[main->iterations];
  }
  if (votes.empty()) return {};
  const std::uint64_t most = std::ranges::max_element(votes, {}, [](const auto& each) { return each.second; })->first;
  std::vector<InStep> in_step;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const auto loop = std::ranges::find_if(
        loops[rank], [&](const Loop& each) { return each.iterations + 1 >= most && each.iterations <= most + 1; });
    if (loop == loops[rank].end()) continue;
    const CallSeries& series = ranks[rank]->series();
    in_step.push_back({rank, &series, *loop, rounds_of(series, *loop)});
  }
  return in_step;
}

// How many iterations, in how many snapshots, and where each begins.
void describe(std::span<const InStep> in_step, const Resolver& resolver, reports::Snapshots& result) {
  const InStep& first = in_step.front();
  const std::uint64_t head = first.series->sites()[first.loop.head].key;
  const Location& place = resolver.call_site(static_cast<std::uint32_t>(head));
  result.trigger = "iteration";
  result.function = function_info(instrument::PackClass::kMpi, static_cast<std::uint32_t>(head >> 32)).name;
  result.symbol = place.symbol;
  result.source_file = place.source_file;
  result.line = place.line;
  result.ranks = static_cast<std::uint32_t>(in_step.size());
  result.call_sites = first.loop.sites;
  for (const InStep& each : in_step) {
    result.iterations = std::max(result.iterations, each.loop.iterations);
    result.per_snapshot = std::max(result.per_snapshot, std::uint64_t{1} << each.loop.shift);
    result.regular += each.loop.regular / result.ranks;
  }
}

// Calls by call site, each a list over the snapshots.
class CallsOverSnapshots {
 public:
  explicit CallsOverSnapshots(std::size_t snapshots) : snapshots_(snapshots) {}
  void add(std::uint64_t key, std::size_t snapshot, const CallSums& sums) {
    reports::SnapshotCalls& call = calls_[key];
    if (call.calls.empty()) {
      call.calls.assign(snapshots_, 0);
      call.bytes.assign(snapshots_, 0);
      call.seconds.assign(snapshots_, 0);
    }
    call.calls[snapshot] += sums.calls;
    call.bytes[snapshot] += sums.bytes;
    call.seconds[snapshot] += static_cast<double>(sums.ns) * 1e-9;
  }
  // The costly ones, by seconds.
  [[nodiscard]] std::vector<reports::SnapshotCalls> take(const Resolver& resolver) {
    std::vector<std::pair<double, std::uint64_t>> order;
    for (const auto& [key, call] : calls_)
      order.emplace_back(std::accumulate(call.seconds.begin(), call.seconds.end(), 0.0), key);
    std::ranges::stable_sort(order, std::ranges::greater{}, &std::pair<double, std::uint64_t>::first);
    if (order.size() > kMostCalls) order.resize(kMostCalls);
    std::vector<reports::SnapshotCalls> result;
    for (const auto& [seconds, key] : order) {
      reports::SnapshotCalls& call = result.emplace_back(std::move(calls_[key]));
      const Location& location = resolver.call_site(static_cast<std::uint32_t>(key));
      const auto pack_class = (key & kIsPosix) != 0 ? instrument::PackClass::kPosix : instrument::PackClass::kMpi;
      call.function = function_info(pack_class, static_cast<std::uint32_t>((key & ~kIsPosix) >> 32)).name;
      call.symbol = location.symbol;
      call.source_file = location.source_file;
      call.line = location.line;
      call.module = location.module;
      call.offset = location.offset;
    }
    return result;
  }

 private:
  std::size_t snapshots_;
  std::map<std::uint64_t, reports::SnapshotCalls> calls_;
};

// What a rank did in each snapshot.
struct RankTimes {
  std::vector<double> begin, all, mpi, io, own;  // s; own: outside of MPI and I/O
  RankTimes(const InStep& rank, std::size_t snapshots, std::uint64_t per_snapshot, CallsOverSnapshots& calls)
      : begin(snapshots, 0), all(snapshots, 0), mpi(snapshots, 0), io(snapshots, 0), own(snapshots, 0) {
    for (std::size_t i = 0; i < rank.rounds.size(); ++i) {
      const Round& round = rank.rounds[i];
      const std::size_t at = std::min<std::size_t>((i << rank.loop.shift) / per_snapshot, snapshots - 1);
      if (all[at] == 0) begin[at] = in_seconds(round.begin);
      const double took = in_seconds(round.end - round.begin);
      double in_calls = 0;
      for (std::uint32_t piece = round.first_piece; piece < round.end_piece; ++piece) {
        rank.series->for_each_call(rank.series->pieces()[piece], [&](std::uint32_t site, const CallSums& sums) {
          const std::uint64_t key = rank.series->sites()[site].key;
          const double spent = static_cast<double>(sums.ns) * 1e-9;
          ((key & kIsPosix) != 0 ? io : mpi)[at] += spent;
          in_calls += spent;
          calls.add(key, at, sums);
        });
      }
      all[at] += took;
      own[at] += std::max(0.0, took - in_calls);
    }
  }
};

void Snapshots::contribute(const Resolver& resolver, reports::Application& application) const {
  const auto in_step = ranks_in_step(ranks_);
  if (in_step.empty()) return;
  reports::Snapshots& result = application.snapshots;
  describe(in_step, resolver, result);
  const std::size_t count = (result.iterations - 1) / result.per_snapshot + 1;
  for (auto* const list :
       {&result.begin_seconds, &result.seconds, &result.longest_seconds, &result.mpi_seconds, &result.io_seconds})
    list->assign(count, 0);
  result.ranks_per_group = (application.ranks + kMostGroups - 1) / kMostGroups;
  result.groups = (application.ranks + result.ranks_per_group - 1) / result.ranks_per_group;
  result.own_seconds.assign(result.groups * count, 0);
  std::vector<std::uint32_t> ranks_of_group(result.groups);
  for (const InStep& each : in_step) ++ranks_of_group[each.rank / result.ranks_per_group];

  CallsOverSnapshots calls(count);
  for (const InStep& each : in_step) {
    const RankTimes times(each, count, result.per_snapshot, calls);
    const std::uint32_t group = each.rank / result.ranks_per_group;
    for (std::size_t at = 0; at < count; ++at) {
      result.begin_seconds[at] += times.begin[at] / result.ranks;
      result.seconds[at] += times.all[at] / result.ranks;
      result.mpi_seconds[at] += times.mpi[at] / result.ranks;
      result.io_seconds[at] += times.io[at] / result.ranks;
      result.longest_seconds[at] = std::max(result.longest_seconds[at], times.all[at]);
      result.own_seconds[group * count + at] += times.own[at] / ranks_of_group[group];
    }
  }
  result.calls = calls.take(resolver);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(snapshots, "1.0", ardoise::knowledge_sources::Snapshots)
