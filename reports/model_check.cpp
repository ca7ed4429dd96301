// The first broken rule ends the check.
#include "reports/model_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "reports/check.hpp"

namespace ardoise::reports {

bool numbers_are_sane(const Type& type, const void* v) {
  switch (type.kind) {
    case Type::Kind::float32:
      return std::isfinite(*static_cast<const float*>(v)) && *static_cast<const float*>(v) >= 0;
    case Type::Kind::float64:
      return std::isfinite(*static_cast<const double*>(v)) && *static_cast<const double*>(v) >= 0;
    case Type::Kind::object:
      return std::all_of(type.fields.begin(), type.fields.end(), [v](const Field& field) {
        return numbers_are_sane(*field.type, static_cast<const std::byte*>(v) + field.offset);
      });
    default:
      return true;
  }
}

void check_list(Check& check, const std::string& place, const Type& type, const void* list) {
  const auto* element = static_cast<const std::byte*>(type.data(list));
  for (std::size_t i = 0; i < type.size(list); ++i, element += type.element_size) {
    check.require(numbers_are_sane(*type.element, element), "{}[{}] has a negative or infinite number", place, i);
  }
}

namespace {

constexpr std::size_t kMaxBuckets = 65;  // sizes have 64 bits, and there is size 0

void check_sizes(Check& check, const std::string& place, const std::vector<FunctionProfile>& functions) {
  for (std::size_t i = 0; i < functions.size(); ++i) {
    check.require(functions[i].calls_by_size.size() <= kMaxBuckets, "{}[{}].calls_by_size has more than {} buckets",
                  place, i, kMaxBuckets);
  }
}

void check_layout(Check& check, const std::string& at, const Layout& layout, std::uint32_t ranks) {
  if (layout.extents.empty()) {
    check.require(layout.rank_of_cell.empty(), "{}.rank_of_cell needs extents", at);
    return;
  }
  check.require(layout.extents.size() >= 2 && layout.extents.size() <= 32, "{}.extents must have 2 to 32 dimensions",
                at);
  // At most a small multiple of the ranks, so that extents cannot cause large allocations.
  const std::uint64_t most = 4ULL * ranks + 64;
  std::uint64_t cells = 1;
  for (const std::uint32_t extent : layout.extents) {
    check.require(extent != 0, "{}.extents has a 0", at);
    cells = std::min(cells * extent, most + 1);
  }
  check.require(cells >= ranks && cells <= most, "{}.extents do not fit {} ranks", at, ranks);
  check.require(layout.rank_of_cell.empty() || layout.rank_of_cell.size() == cells,
                "{}.rank_of_cell must have {} cells", at, cells);
  const auto bad = std::find_if(layout.rank_of_cell.begin(), layout.rank_of_cell.end(),
                                [&](std::uint32_t r) { return r >= ranks && r != kNoRank; });
  check.require(bad == layout.rank_of_cell.end(), "{}.rank_of_cell[{}] is not a rank", at,
                bad - layout.rank_of_cell.begin());
}

void check_temporal(Check& check, const std::string& at, const TemporalMap& map, std::uint32_t ranks) {
  check.require(numbers_are_sane(map.bin_seconds), "{}.bin_seconds is negative", at);
  unsigned __int128 cells = map.classes.size();
  cells = cells * map.groups * map.bins;
  check.require(cells == map.share.size(), "{}.share has {} cells, not classes x groups x bins ({} x {} x {})", at,
                map.share.size(), map.classes.size(), map.groups, map.bins);
  check.require(map.groups <= ranks, "{}.groups are more than the ranks", at);
  check.require(map.ranks_per_group >= 1, "{}.ranks_per_group must be at least 1", at);
  const auto bad = std::find_if_not(map.share.begin(), map.share.end(), [](float s) { return s >= 0 && s <= 1.0001F; });
  check.require(bad == map.share.end(), "{}.share[{}] is not between 0 and 1", at, bad - map.share.begin());
}

void check_over_time(Check& check, const std::string& at, const Waiting& waiting, std::uint32_t ranks) {
  const WaitingOverTime& map = waiting.over_time;
  check.require(std::uint64_t{map.groups} * map.bins == map.seconds.size(),
                "{}.over_time.seconds has {} cells, not groups x bins ({} x {})", at, map.seconds.size(), map.groups,
                map.bins);
  check.require(map.groups <= ranks && map.ranks_per_group >= 1 &&
                    (map.groups == 0 || (map.groups - std::uint64_t{1}) * map.ranks_per_group < ranks),
                "{}.over_time has more groups than ranks", at);
  check.require(numbers_are_sane(map.bin_seconds), "{}.over_time.bin_seconds is negative", at);
  check_each(check, at + ".over_time.seconds", map.seconds);
  const EfficiencyOverTime& e = waiting.efficiency_over_time;
  for (const auto* list : {&e.load_balance, &e.serialisation, &e.transfer, &e.parallel}) {
    check.require(list->size() == e.parallel.size(), "{}.efficiency_over_time has lists of different lengths", at);
    check_each(check, at + ".efficiency_over_time", *list);
  }
  check.require(numbers_are_sane(waiting.efficiency) && numbers_are_sane(e.bin_seconds),
                "{}.efficiency has a negative or infinite number", at);
}

void check_communicators(Check& check, const std::string& at, const Application& a) {
  check_each(check, at, a.communicators);
  for (const Communicator& each : a.communicators) {
    check.require(each.group_of_rank.empty() || each.group_of_rank.size() == a.ranks,
                  "{}.group_of_rank must have {} numbers", at, a.ranks);
    check.require(std::ranges::all_of(each.group_of_rank, [&](std::uint32_t group) { return group <= a.ranks; }),
                  "{}.group_of_rank has a number above {}", at, a.ranks);
    check.require(each.least_efficient == 0 ||
                      std::ranges::find(each.group_of_rank, each.least_efficient) != each.group_of_rank.end(),
                  "{}.least_efficient is not a group in group_of_rank", at);
  }
}

void check_waiting(Check& check, const std::string& at, const Application& a) {
  const Waiting& waiting = a.waiting;
  const std::uint32_t ranks = a.ranks, world_ranks = std::max(a.world_ranks, ranks);
  const auto is_own = [&](std::uint32_t world_rank) { return world_rank - a.first_rank < ranks; };
  const auto is_other = [&](std::uint32_t world_rank) { return world_rank < world_ranks && !is_own(world_rank); };
  check_each(check, at + ".patterns", waiting.patterns);
  check_each(check, at + ".call_sites", waiting.call_sites);
  check_each(check, at + ".edges", waiting.edges);
  const auto is_one_or_none = [&](const auto& each) {
    return (each.awaited < ranks || each.awaited == kNoRank) &&
           (is_other(each.awaited_other) || each.awaited_other == kNoRank);
  };
  const auto has_ranks = [&](const auto& each) { return each.longest.waiter < ranks && is_one_or_none(each.longest); };
  check.require(std::ranges::all_of(waiting.patterns, has_ranks) && std::ranges::all_of(waiting.call_sites, has_ranks),
                "{}'s longest waits name a rank that is not below {}", at, ranks);
  check.require(std::ranges::all_of(waiting.call_sites,
                                    [&](const WaitSite& each) {
                                      return each.first_waiter < ranks && each.last_waiter < ranks &&
                                             is_one_or_none(each);
                                    }),
                "{}.call_sites name a rank that is not below {}", at, ranks);
  const auto edge =
      std::ranges::find_if(waiting.edges, [&](const WaitEdge& e) { return e.waiter >= ranks || e.awaited >= ranks; });
  check.require(edge == waiting.edges.end(), "{}.edges[{}] names a rank that is not below {}", at,
                edge - waiting.edges.begin(), ranks);
  check_each(check, at + ".edges_between", waiting.edges_between);
  check_each(check, at + ".others", waiting.others);
  check.require(std::ranges::all_of(waiting.edges_between,
                                    [&](const WaitEdge& e) { return is_own(e.waiter) && is_other(e.awaited); }) &&
                    std::ranges::all_of(waiting.others, [&](const WaitedOther& e) { return is_other(e.rank); }),
                "{} has a rank of another program that is not among the {} ranks of its world", at, world_ranks);
  check_cells(check, at + ".per_rank.waiting_seconds", waiting.per_rank.waiting_seconds, ranks);
  check_cells(check, at + ".per_rank.caused_seconds", waiting.per_rank.caused_seconds, ranks);
  check_cells(check, at + ".per_rank.origin_seconds", waiting.per_rank.origin_seconds, ranks);
  check_cells(check, at + ".per_rank.critical_path_seconds", waiting.per_rank.critical_path_seconds, ranks);
  check_cells(check, at + ".per_rank.without_processor_seconds", waiting.per_rank.without_processor_seconds, ranks);
  check_together(check, at + ".per_rank",
                 {{"waiting_seconds", waiting.per_rank.waiting_seconds.size()},
                  {"caused_seconds", waiting.per_rank.caused_seconds.size()}});
  check_each(check, at + ".critical_path", waiting.critical_path);
  check.require(std::ranges::all_of(waiting.critical_path,
                                    [&](const PathPart& each) {
                                      return each.rank < ranks &&
                                             std::ranges::all_of(each.by_rank, [&](const RankSeconds& of_rank) {
                                               return of_rank.rank < ranks && numbers_are_sane(of_rank.seconds);
                                             });
                                    }),
                "{}.critical_path names a rank that is not below {}", at, ranks);
  check.require(
      numbers_are_sane(waiting.critical_path_seconds) && numbers_are_sane(waiting.critical_path_elsewhere_seconds),
      "{}.critical_path_seconds is negative", at);
  check_over_time(check, at, waiting, ranks);
  check_each(check, at + ".causes", waiting.causes);
  check.require(std::ranges::all_of(waiting.causes, [&](const WaitCause& c) { return c.rank < ranks; }),
                "{}.causes name a rank that is not below {}", at, ranks);
  check.require(std::ranges::all_of(waiting.unreceived, [&](const auto& each) { return each.source < ranks; }),
                "{}.unreceived name a rank that is not below {}", at, ranks);
  check.require(numbers_are_sane(waiting.unresolved), "{}.unresolved has a negative or infinite number", at);
}

void check_series(Check& check, const std::string& at, const SnapshotSeries& series, std::uint32_t ranks) {
  const std::size_t count = series.seconds.size();
  check.require(series.rounds.size() == count && std::ranges::all_of(series.rounds, [](auto n) { return n != 0; }),
                "{}.rounds must have a number above 0 for each of {} snapshots", at, count);
  for (const auto* list : {&series.begin_seconds, &series.longest_seconds, &series.mpi_seconds, &series.io_seconds,
                           &series.waiting_seconds})
    check.require(list->size() == count, "{} has lists of different lengths", at);
  check.require(series.numbers.empty() || series.numbers.size() == count,
                "{}.numbers must be empty or have {} elements", at, count);
  check.require(series.own_seconds.size() == std::uint64_t{series.groups} * count,
                "{}.own_seconds has {} cells, not groups x snapshots ({} x {})", at, series.own_seconds.size(),
                series.groups, count);
  for (const auto* list : {&series.group_longest_seconds, &series.group_bytes, &series.group_calls,
                           &series.group_io_seconds, &series.group_cpu_seconds}) {
    check.require(list->empty() || list->size() == series.own_seconds.size(),
                  "{} has lists by groups of ranks of different lengths", at);
    check_each(check, at, *list);
  }
  check.require(series.group_waiting_seconds.size() == series.own_seconds.size(),
                "{}.group_waiting_seconds has {} cells, not as many as own_seconds ({})", at,
                series.group_waiting_seconds.size(), series.own_seconds.size());
  check.require(series.groups <= ranks && series.ranks_per_group >= 1 && series.ranks <= ranks,
                "{} has more groups than ranks", at);
  for (const SnapshotCalls& each : series.calls) {
    check.require(each.calls.size() == count && each.bytes.size() == count && each.seconds.size() == count &&
                      each.waiting_seconds.size() == count,
                  "{}.calls has lists of different lengths", at);
  }
  for (const SnapshotFunction& each : series.functions)
    check.require(each.seconds.size() == count, "{}.functions has lists of different lengths", at);
  for (const SnapshotValue& each : series.values) {
    check.require(each.count.size() == count && each.sum.size() == count && each.least.size() == count &&
                      each.most.size() == count,
                  "{}.values has lists of different lengths", at);
    check.require(std::ranges::all_of(each.sum, [](double sum) { return std::isfinite(sum); }),
                  "{}.values has an infinite number", at);
  }
  for (const SnapshotCounter& each : series.counters) {
    check.require(each.counts.size() == count, "{}.counters has lists of different lengths", at);
    check_each(check, at + ".counters", each.counts);
  }
  check_each(check, at + ".calls", series.calls);
  check_each(check, at + ".functions", series.functions);
  for (const auto* list :
       {&series.begin_seconds, &series.seconds, &series.longest_seconds, &series.mpi_seconds, &series.io_seconds,
        &series.own_seconds, &series.waiting_seconds, &series.group_waiting_seconds})
    check_each(check, at, *list);
  check.require(std::isfinite(series.regular) && series.regular >= 0 && std::isfinite(series.interval_seconds) &&
                    series.interval_seconds >= 0,
                "{} has a negative or infinite number", at);
}

void check_snapshots(Check& check, const std::string& at, const Snapshots& snapshots, std::uint32_t ranks) {
  for (std::size_t i = 0; i < snapshots.series.size(); ++i)
    check_series(check, fmt::format("{}.series[{}]", at, i), snapshots.series[i], ranks);
}

void check_ending(Check& check, const std::string& at, const Ending& ending, std::uint32_t ranks) {
  check_each(check, at + ".ends", ending.ends);
  check_each(check, at + ".stands", ending.stands);
  check.require(std::isfinite(ending.moment_seconds) && ending.moment_seconds >= 0,
                "{}.moment_seconds is negative or infinite", at);
  const auto has_ranks = [&](const auto& each) {
    return !each.ranks.empty() && std::ranges::all_of(each.ranks, [&](std::uint32_t rank) { return rank < ranks; });
  };
  check.require(std::ranges::all_of(ending.ends, has_ranks) && std::ranges::all_of(ending.stands, has_ranks),
                "{} has an entry without ranks, or a rank that is not below {}", at, ranks);
}

void check_per_rank(Check& check, const std::string& at, const RankSummary& times, std::uint32_t ranks) {
  check_cells(check, at + ".wall_seconds", times.wall_seconds, ranks);
  check_cells(check, at + ".mpi_seconds", times.mpi_seconds, ranks);
  check_cells(check, at + ".io_seconds", times.io_seconds, ranks);
  check_cells(check, at + ".cpu_seconds", times.cpu_seconds, ranks);
  check_cells(check, at + ".waiting_seconds", times.waiting_seconds, ranks);
  check_cells(check, at + ".process_cpu_seconds", times.process_cpu_seconds, ranks);
  check_cells(check, at + ".children_cpu_seconds", times.children_cpu_seconds, ranks);
  check_cells(check, at + ".peak_memory_bytes", times.peak_memory_bytes, ranks);
  check_cells(check, at + ".processors", times.processors, ranks);
  check_cells(check, at + ".first_processor", times.first_processor, ranks);
  check_cells(check, at + ".host_processors", times.host_processors, ranks);
  check_cells(check, at + ".host", times.host, ranks);
  check_cells(check, at + ".first_mpi_seconds", times.first_mpi_seconds, ranks);
  check_cells(check, at + ".first_io_seconds", times.first_io_seconds, ranks);
  check_cells(check, at + ".asleep_outside", times.asleep_outside, ranks);
  check_cells(check, at + ".asleep_inside", times.asleep_inside, ranks);
  check_cells(check, at + ".asleep_for_thread", times.asleep_for_thread, ranks);
  check_cells(check, at + ".asleep_for_time", times.asleep_for_time, ranks);
  check_cells(check, at + ".asleep_for_program", times.asleep_for_program, ranks);
  check_cells(check, at + ".asleep_for_file_lock", times.asleep_for_file_lock, ranks);
  check_together(check, at,
                 {{"wall_seconds", times.wall_seconds.size()},
                  {"io_seconds", times.io_seconds.size()},
                  {"host", times.host.size()}});
  check.require(times.wall_seconds.size() <= times.mpi_seconds.size(), "{}.mpi_seconds is missing", at);
  // Fields of later versions.
  check_together(check, at,
                 {{"cpu_seconds", times.cpu_seconds.size()},
                  {"waiting_seconds", times.waiting_seconds.size()},
                  {"process_cpu_seconds", times.process_cpu_seconds.size()},
                  {"peak_memory_bytes", times.peak_memory_bytes.size()}});
  check_together(check, at,
                 {{"processors", times.processors.size()},
                  {"first_processor", times.first_processor.size()},
                  {"host_processors", times.host_processors.size()}});
  check_together(check, at,
                 {{"first_mpi_seconds", times.first_mpi_seconds.size()},
                  {"first_io_seconds", times.first_io_seconds.size()},
                  {"asleep_outside", times.asleep_outside.size()},
                  {"asleep_inside", times.asleep_inside.size()}});
  check_together(check, at,
                 {{"asleep_for_thread", times.asleep_for_thread.size()},
                  {"asleep_for_time", times.asleep_for_time.size()},
                  {"asleep_for_program", times.asleep_for_program.size()},
                  {"asleep_for_file_lock", times.asleep_for_file_lock.size()}});
  check.require(times.peak_memory_bytes.size() <= times.host.size(), "{}.host is missing", at);
}

void check_application(Check& check, const std::string& at, const Application& a) {
  check.require(a.ranks >= 1 && a.ranks <= kMaxRanks, "{}.ranks must be given, from 1 to {}", at, kMaxRanks);
  if (!check.error.empty()) return;
  check.require(
      numbers_are_sane(a.wall_seconds) && numbers_are_sane(a.init_seconds) && numbers_are_sane(a.start_seconds),
      "{} has a negative or infinite time", at);
  check_each(check, at + ".mpi", a.mpi);
  check_each(check, at + ".posix", a.posix);
  check_sizes(check, at + ".mpi", a.mpi);
  check_sizes(check, at + ".posix", a.posix);
  check_each(check, at + ".call_sites", a.call_sites);
  check_each(check, at + ".edges", a.edges);
  check_each(check, at + ".files", a.files);
  const auto edge = std::find_if(a.edges.begin(), a.edges.end(),
                                 [&](const Edge& e) { return e.source >= a.ranks || e.target >= a.ranks; });
  check.require(edge == a.edges.end(), "{}.edges[{}] names a rank that is not below {}", at, edge - a.edges.begin(),
                a.ranks);
  check.require(a.first_rank <= kMaxRanks && (a.world_ranks == 0 || a.world_ranks >= a.first_rank + a.ranks),
                "{}.world_ranks is less than first_rank plus ranks", at);
  const auto between = std::ranges::find_if(
      a.edges_between, [&](const Edge& e) { return e.source >= a.world_ranks || e.target >= a.world_ranks; });
  check.require(between == a.edges_between.end(), "{}.edges_between[{}] names a rank that is not below {}", at,
                between - a.edges_between.begin(), a.world_ranks);
  check_layout(check, at + ".layout", a.layout, a.ranks);
  for (std::size_t i = 0; i < a.density.size(); ++i) {
    const std::string place = fmt::format("{}.density[{}]", at, i);
    check_cells(check, place + ".calls", a.density[i].calls, a.ranks);
    check_cells(check, place + ".seconds", a.density[i].seconds, a.ranks);
    check_cells(check, place + ".bytes", a.density[i].bytes, a.ranks);
  }
  check_temporal(check, at + ".temporal", a.temporal, a.ranks);
  check_per_rank(check, at + ".per_rank", a.per_rank, a.ranks);
  const auto host = std::find_if(a.per_rank.host.begin(), a.per_rank.host.end(),
                                 [&](std::uint32_t h) { return h >= a.hosts.size(); });
  check.require(host == a.per_rank.host.end(), "{}.per_rank.host[{}] is not an index into hosts", at,
                host - a.per_rank.host.begin());
  check.require(a.other_threads.empty() || a.other_threads.size() == a.hosts.size(),
                "{}.other_threads has {} entries, not {}", at, a.other_threads.size(), a.hosts.size());
  check.require(numbers_are_sane(a.other_threads), "{}.other_threads has a negative or infinite number", at);
  check.require(a.memory.bins <= 4096 && a.memory.peak_bytes.size() == std::size_t{a.memory.bins} * a.ranks,
                "{}.memory.peak_bytes has {} cells, not {} x {}", at, a.memory.peak_bytes.size(), a.ranks,
                a.memory.bins);
  check.require(a.memory.bins == 0 || !a.per_rank.host.empty(), "{}.memory needs per_rank.host", at);
  check.require(numbers_are_sane(a.memory.bin_seconds), "{}.memory.bin_seconds is negative", at);
  check.require(a.memory.host_bytes.size() == a.memory.limit_bytes.size() &&
                    (a.memory.bins == 0 || a.memory.host_bytes.size() == a.hosts.size()),
                "{}.memory has {} and {} hosts, not {}", at, a.memory.host_bytes.size(), a.memory.limit_bytes.size(),
                a.hosts.size());
  check_communicators(check, at + ".communicators", a);
  check_waiting(check, at + ".waiting", a);
  check_snapshots(check, at + ".snapshots", a.snapshots, a.ranks);
  check_samples(check, at + ".samples", a.samples, a.ranks);
  check_ending(check, at + ".ending", a.ending, a.ranks);
  check.require(numbers_are_sane(a.quality), "{}.quality has a negative or infinite number", at);
}

}  // namespace

Outcome check_model(const Run& run) {
  Check check;
  check.require(numbers_are_sane(run.analysis_seconds), "analysis_seconds is negative");
  for (std::size_t i = 0; i < run.applications.size(); ++i) {
    check_application(check, fmt::format("applications[{}]", i), run.applications[i]);
  }
  return {check.error};
}

}  // namespace ardoise::reports
