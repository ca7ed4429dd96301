#include "knowledge_sources/plugins/snapshots/series_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "knowledge_sources/calls/functions.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kMostGroups = 64;
constexpr std::size_t kMostCalls = 20, kMostFunctions = 12, kMostValues = 32;

double in_seconds(auto ns) { return static_cast<double>(ns) * 1e-9; }

// Maps the snapshots of each rank to those of the series.
class Grid {
 public:
  Grid(std::span<const RankCut> cuts, bool has_rest, std::size_t most_snapshots) : has_rest_(has_rest) {
    std::uint64_t most = 0;
    for (const RankCut& cut : cuts) {
      most = std::max(most, cut.rounds() - (has_rest ? 1 : 0));
      for (const Snapshot& each : cut.snapshots) each_ = std::max(each_, each.rounds);
    }
    while (most / each_ >= most_snapshots) each_ *= 2;
    whole_ = most == 0 ? 0 : static_cast<std::size_t>((most - 1) / each_ + 1);
    for (std::size_t i = 0; i < whole_; ++i) rounds_.push_back(std::min(each_, most - i * each_));
    if (has_rest) rounds_.push_back(1);
  }
  [[nodiscard]] const std::vector<std::uint64_t>& rounds() const { return rounds_; }
  [[nodiscard]] std::vector<std::size_t> places_of(const RankCut& cut) const {
    std::vector<std::size_t> places;
    std::uint64_t before = 0;
    for (const Snapshot& each : cut.snapshots) {
      const bool is_rest = has_rest_ && &each == &cut.snapshots.back();
      places.push_back(is_rest ? whole_ : std::min<std::size_t>(before / each_, whole_ - 1));
      before += each.rounds;
    }
    return places;
  }

 private:
  bool has_rest_;
  std::uint64_t each_ = 1;
  std::size_t whole_ = 0;
  std::vector<std::uint64_t> rounds_;
};

// By function, each with a value for every snapshot.
class FunctionsOverSnapshots {
 public:
  FunctionsOverSnapshots(std::size_t snapshots, const ContextTree& tree) : snapshots_(snapshots), tree_(tree) {}
  void add(std::uint32_t node, std::size_t snapshot, double seconds) {
    auto& list = seconds_[tree_.nodes()[node].function];
    list.resize(snapshots_);
    list[snapshot] += seconds;
  }
  [[nodiscard]] bool is_io(std::uint32_t node) const {
    return tree_.functions()[tree_.nodes()[node].function].kind == "posix";
  }
  [[nodiscard]] std::vector<reports::SnapshotFunction> take() {
    std::vector<std::pair<double, std::uint32_t>> order;
    for (const auto& [function, list] : seconds_) {
      if (tree_.functions()[function].kind != "posix") order.emplace_back(sum_of(list), function);
    }
    std::ranges::stable_sort(order, std::ranges::greater{}, &std::pair<double, std::uint32_t>::first);
    if (order.size() > kMostFunctions) order.resize(kMostFunctions);
    std::vector<reports::SnapshotFunction> result;
    for (const auto& [seconds, number] : order) {
      const ContextTree::Function& function = tree_.functions()[number];
      const std::string name = function.symbol.empty() ? function.module : function.symbol;
      result.push_back({name, function.source_file, function.line, std::move(seconds_[number])});
    }
    return result;
  }

 private:
  std::size_t snapshots_;
  const ContextTree& tree_;
  std::map<std::uint32_t, std::vector<double>> seconds_;
};

// By name, as numbers until resolved.
class ValuesOverSnapshots {
 public:
  explicit ValuesOverSnapshots(std::size_t snapshots) : snapshots_(snapshots) {}
  void add(std::uint64_t name, std::size_t snapshot, const ValueSums& sums) {
    auto& list = sums_[name];
    list.resize(snapshots_);
    list[snapshot] += sums;
  }
  // The most frequent values; the others are combined.
  [[nodiscard]] std::vector<reports::SnapshotValue> take(const MarkNameTable& names) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> order;
    for (const auto& [name, list] : sums_) {
      std::uint64_t count = 0;
      for (const ValueSums& each : list) count += each.count;
      if (name != RankMarks::kFurther) order.emplace_back(count, name);
    }
    std::ranges::sort(order, std::ranges::greater{});
    for (std::size_t i = kMostValues; i < order.size(); ++i) {
      const auto list = std::move(sums_.extract(order[i].second).mapped());
      for (std::size_t at = 0; at < snapshots_; ++at) add(RankMarks::kFurther, at, list[at]);
    }
    std::vector<reports::SnapshotValue> result;
    for (const auto& [name, list] : sums_) {
      reports::SnapshotValue& value = result.emplace_back();
      value.name = name_of_mark(names, name);
      for (const ValueSums& each : list) {
        value.count.push_back(each.count);
        value.sum.push_back(each.sum);
        value.least.push_back(each.least);
        value.most.push_back(each.most);
      }
    }
    std::ranges::stable_sort(result, {}, &reports::SnapshotValue::name);
    return result;
  }

 private:
  std::size_t snapshots_;
  std::map<std::uint64_t, std::vector<ValueSums>> sums_;
};

// By name, as numbers until resolved; limited to the chosen counters.
class CountersOverSnapshots {
 public:
  explicit CountersOverSnapshots(std::size_t snapshots) : snapshots_(snapshots) {}
  void add(std::uint32_t name, std::size_t snapshot, std::uint64_t count) {
    auto& list = counts_[name];
    list.resize(snapshots_);
    list[snapshot] += static_cast<double>(count);
  }
  [[nodiscard]] std::vector<reports::SnapshotCounter> take(const MarkNameTable& names) {
    std::vector<reports::SnapshotCounter> result;
    for (auto& [name, list] : counts_) result.push_back({name_of_mark(names, name), std::move(list)});
    std::ranges::stable_sort(result, {}, &reports::SnapshotCounter::name);
    return result;
  }

 private:
  std::size_t snapshots_;
  std::map<std::uint32_t, std::vector<double>> counts_;
};

// Times of a rank in each snapshot, in s. own: outside MPI and I/O; cpu: CPU time of own; waiting: part of mpi.
struct RankTimes {
  std::vector<double> begin, all, mpi, io, own, cpu, waiting;
  std::vector<double> calls, bytes;  // of MPI; no times
  explicit RankTimes(std::size_t snapshots)
      : begin(snapshots),
        all(snapshots),
        mpi(snapshots),
        io(snapshots),
        own(snapshots),
        cpu(snapshots),
        waiting(snapshots),
        calls(snapshots),
        bytes(snapshots) {}
};

}  // namespace

double sum_of(const std::vector<double>& list) { return std::accumulate(list.begin(), list.end(), 0.0); }

std::string name_of_mark(const MarkNameTable& names, std::uint64_t id) {
  const auto found = id == RankMarks::kFurther ? names.end() : names.find(static_cast<std::uint32_t>(id));
  return found == names.end() ? std::string(reports::kFurtherNames) : found->second;
}

std::uint64_t RankCut::rounds() const {
  std::uint64_t sum = 0;
  for (const Snapshot& each : snapshots) sum += each.rounds;
  return sum;
}

void CallsOverSnapshots::add(std::uint64_t key, std::size_t snapshot, const CallSums& sums) {
  if (sums == CallSums{}) return;
  reports::SnapshotCalls& call = calls_[key];
  if (call.calls.empty()) {
    call.calls.assign(snapshots_, 0);
    call.bytes.assign(snapshots_, 0);
    call.seconds.assign(snapshots_, 0);
    call.waiting_seconds.assign(snapshots_, 0);
  }
  call.calls[snapshot] += sums.calls;
  call.bytes[snapshot] += sums.bytes;
  call.seconds[snapshot] += in_seconds(sums.ns);
  call.waiting_seconds[snapshot] += in_seconds(sums.waited);
}

std::vector<reports::SnapshotCalls> CallsOverSnapshots::take(const Resolver& resolver) {
  std::vector<std::pair<double, std::uint64_t>> order;
  for (const auto& [key, call] : calls_) {
    if (key != RankMarks::kFurther) order.emplace_back(sum_of(call.seconds), key);
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, &std::pair<double, std::uint64_t>::first);
  if (order.size() > kMostCalls) order.resize(kMostCalls);
  std::vector<reports::SnapshotCalls> result;
  for (const auto& [seconds, key] : order) {
    reports::SnapshotCalls& call = result.emplace_back(std::move(calls_.extract(key).mapped()));
    const Location& location = resolver.call_site(place_of_key(key));
    const auto pack_class = (key & kIsPosix) != 0 ? instrument::PackClass::kPosix : instrument::PackClass::kMpi;
    call.function = function_info(pack_class, function_of_key(key)).name;
    call.symbol = location.symbol;
    call.source_file = location.source_file;
    call.line = location.line;
    call.module = location.module;
    call.offset = location.offset;
  }
  if (calls_.empty()) return result;
  reports::SnapshotCalls others = std::move(calls_.extract(calls_.begin()).mapped());
  for (const auto& [key, call] : calls_) {
    for (std::size_t i = 0; i < snapshots_; ++i) {
      others.calls[i] += call.calls[i];
      others.bytes[i] += call.bytes[i];
      others.seconds[i] += call.seconds[i];
      others.waiting_seconds[i] += call.waiting_seconds[i];
    }
  }
  result.push_back(std::move(others));
  return result;
}

void fill_series(std::span<const RankCut> cuts, bool has_rest, const Resolver& resolver, const ContextTree& tree,
                 const MarkNameTable& names, std::uint32_t ranks, std::size_t most_snapshots,
                 reports::SnapshotSeries& series) {
  const Grid grid(cuts, has_rest, most_snapshots);
  const std::size_t count = grid.rounds().size();
  const auto in_step = static_cast<double>(cuts.size());
  series.rounds = grid.rounds();
  series.ranks = static_cast<std::uint32_t>(cuts.size());
  for (auto* const list : {&series.begin_seconds, &series.seconds, &series.longest_seconds, &series.mpi_seconds,
                           &series.io_seconds, &series.waiting_seconds})
    list->assign(count, 0);
  series.ranks_per_group = (ranks + kMostGroups - 1) / kMostGroups;
  series.groups = (ranks + series.ranks_per_group - 1) / series.ranks_per_group;
  for (auto* const list : {&series.own_seconds, &series.group_waiting_seconds, &series.group_bytes, &series.group_calls,
                           &series.group_io_seconds, &series.group_cpu_seconds})
    list->assign(series.groups * count, 0);
  if (series.ranks_per_group > 1) series.group_longest_seconds.assign(series.groups * count, 0);
  std::vector<std::uint32_t> ranks_of_group(series.groups);
  for (const RankCut& cut : cuts) ++ranks_of_group[cut.rank / series.ranks_per_group];

  CallsOverSnapshots calls(count);
  FunctionsOverSnapshots functions(count, tree);
  ValuesOverSnapshots values(count);
  CountersOverSnapshots counters(count);
  if (has_rest) series.numbers.assign(count, 0);
  for (const RankCut& cut : cuts) {
    RankTimes times(count);
    const auto places = grid.places_of(cut);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::size_t at = places[i];
      const Snapshot& snapshot = cut.snapshots[i];
      if (has_rest && &cut == cuts.data()) series.numbers[at] = snapshot.number;
      if (times.all[at] == 0) times.begin[at] = in_seconds(snapshot.begin);
      double in_calls = 0;
      for (const CallCell& cell : snapshot.calls) {
        const std::uint64_t key = cut.keys[cell.id];
        const std::uint64_t flags = key == RankMarks::kFurther ? 0 : key;  // further ones count as calls of MPI
        const double spent = in_seconds(cell.sums.ns);
        if ((flags & kIsCounted) != 0) {
          counters.add(place_of_key(key), at, cell.sums.bytes);
          continue;
        }
        if ((flags & kIsSampled) != 0) {
          if (thread_of_key(key) != 0) continue;
          const std::uint32_t place = place_of_key(key), node = cut.where[place < cut.where.size() ? place : 0].node;
          functions.add(node, at, spent);
          times.cpu[at] += functions.is_io(node) ? 0 : spent;
          continue;
        }
        const bool is_posix = (flags & kIsPosix) != 0;
        (is_posix ? times.io : times.mpi)[at] += spent;
        times.calls[at] += is_posix ? 0 : static_cast<double>(cell.sums.calls);
        times.bytes[at] += is_posix ? 0 : static_cast<double>(cell.sums.bytes);
        times.waiting[at] += in_seconds(cell.sums.waited);
        in_calls += spent;
        calls.add(key == RankMarks::kFurther ? key : without_thread(key), at, cell.sums);
      }
      for (const ValueCell& cell : snapshot.values) values.add(cut.names[cell.id], at, cell.sums);
      times.all[at] += in_seconds(snapshot.ns);
      times.own[at] += std::max(0.0, in_seconds(snapshot.ns) - in_calls);
    }
    const std::uint32_t group = cut.rank / series.ranks_per_group;
    for (std::size_t at = 0; at < count; ++at) {
      series.begin_seconds[at] += std::max(0.0, times.begin[at]) / in_step;
      series.seconds[at] += times.all[at] / in_step;
      series.mpi_seconds[at] += times.mpi[at] / in_step;
      series.io_seconds[at] += times.io[at] / in_step;
      series.waiting_seconds[at] += times.waiting[at] / in_step;
      series.longest_seconds[at] = std::max(series.longest_seconds[at], times.all[at]);
      series.own_seconds[group * count + at] += times.own[at] / ranks_of_group[group];
      if (!series.group_longest_seconds.empty()) {
        double& longest = series.group_longest_seconds[group * count + at];
        longest = std::max(longest, times.own[at]);
      }
      series.group_bytes[group * count + at] += times.bytes[at] / ranks_of_group[group];
      series.group_calls[group * count + at] += times.calls[at] / ranks_of_group[group];
      series.group_io_seconds[group * count + at] += times.io[at] / ranks_of_group[group];
      series.group_cpu_seconds[group * count + at] += times.cpu[at] / ranks_of_group[group];
      series.group_waiting_seconds[group * count + at] += times.waiting[at] / ranks_of_group[group];
    }
  }
  for (auto* const list :
       {&series.group_bytes, &series.group_calls, &series.group_io_seconds, &series.group_cpu_seconds}) {
    if (std::ranges::none_of(*list, [](double each) { return each > 0; })) list->clear();
  }
  series.calls = calls.take(resolver);
  series.functions = functions.take();
  series.values = values.take(names);
  series.counters = counters.take(names);
}

std::optional<reports::SnapshotSeries> series_of(const TimedCalls& timed, const Resolver& resolver,
                                                 const reports::Application& application) {
  const std::size_t count = timed.bins();
  if (count == 0 || application.ranks == 0) return std::nullopt;
  reports::SnapshotSeries series;
  series.trigger = "timer";
  series.ranks = application.ranks;
  series.interval_seconds = std::ldexp(1e-9, static_cast<int>(timed.shift()));
  series.rounds.assign(count, 1);
  series.mpi_seconds.assign(count, 0);
  series.io_seconds.assign(count, 0);
  series.waiting_seconds.assign(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const double begin = series.interval_seconds * static_cast<double>(i);
    series.begin_seconds.push_back(begin);
    series.seconds.push_back(std::clamp(application.wall_seconds - begin, 0.0, series.interval_seconds));
  }
  series.longest_seconds = series.seconds;
  CallsOverSnapshots calls(count);
  timed.for_each_row([&](std::uint64_t key, const CallSums* bins) {
    auto& list = (key & kIsPosix) != 0 ? series.io_seconds : series.mpi_seconds;
    for (std::size_t i = 0; i < count; ++i) {
      list[i] += in_seconds(bins[i].ns) / application.ranks;
      series.waiting_seconds[i] += in_seconds(bins[i].waited) / application.ranks;
      calls.add(place_of_key(key) == TimedCalls::kFurther ? RankMarks::kFurther : key, i, bins[i]);
    }
  });
  series.calls = calls.take(resolver);
  return series;
}

}  // namespace ardoise::knowledge_sources
