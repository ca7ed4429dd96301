// The profile over time: iterations of the main loop, the program's own marks, intervals. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "reports/document/sections.hpp"
#include "reports/findings/rank_moves.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr std::size_t kCallRows = 8, kMostSeries = 6, kFunctionRows = 4;
constexpr double kWorthARow = 0.25;  // of a call's time: waiting

double seconds_in(const SnapshotSeries& s) { return std::accumulate(s.seconds.begin(), s.seconds.end(), 0.0); }

std::string detection_in_words(const SnapshotSeries& s) {
  return s.call_sites == 1
             ? fmt::format("one call site; {} of the steps have the usual number of calls", human_share(s.regular))
             : fmt::format("{} call sites with equal numbers of calls; {} of the steps have nearly all of them",
                           s.call_sites, human_share(s.regular));
}

FactList facts_of(const Application& a, const SnapshotSeries& s) {
  FactList list;
  if (!s.function.empty())
    list.facts.emplace_back(s.trigger == "iteration" ? "Each begins with" : "Marked by",
                            s.symbol.empty() && s.source_file.empty()
                                ? Text{{s.function, Span::Look::code}}
                                : Text{{s.function, Span::Look::code}, {" in "}, symbol(name_of(s), 80)});
  list.facts.emplace_back(
      capitalised(round_word(s, false)),
      fmt::format("{} on each of {} of {}, {} of the run{}", with_separators(rounds_in(s)), s.ranks,
                  counted(a.ranks, "rank"), human_share(seconds_in(s) / std::max(a.wall_seconds, 1e-12)),
                  most_rounds(s) > 1 ? fmt::format("; stored in steps of {}", most_rounds(s)) : ""));
  if (const double share = waiting_share(s); share > 0) {
    const auto waits = [](const SnapshotCalls& each) {
      return std::accumulate(each.waiting_seconds.begin(), each.waiting_seconds.end(), 0.0);
    };
    const auto most = std::ranges::max_element(s.calls, {}, waits);
    Text text(fmt::format("{} of their time", human_share(share)));
    if (most != s.calls.end() && !most->function.empty()) {
      text.spans.insert(text.spans.end(), {Span{", longest in "}, Span{most->function, Span::Look::code}, Span{" in "},
                                           symbol(name_of(*most), 60)});
    }
    list.facts.emplace_back("Waiting in MPI", std::move(text));
  }
  if (s.trigger == "iteration") list.facts.emplace_back("Detected by", detection_in_words(s));
  return list;
}

struct Chosen {
  std::string heading;
  std::size_t snapshot;
  std::vector<std::size_t> like_it;  // sampled functions are means over these: one snapshot has too few samples
};

// The slowest, median, first and last snapshot.
std::vector<Chosen> chosen_of(const SnapshotSeries& s) {
  const auto seconds = round_means(s, s.seconds);
  const auto [begin, end] = comparable(s);
  std::vector<std::size_t> in_order(end - begin);
  std::iota(in_order.begin(), in_order.end(), begin);
  auto by_time = in_order;
  std::ranges::stable_sort(by_time, {}, [&](std::size_t each) { return seconds[each]; });
  const std::size_t count = by_time.size(), tenth = std::max<std::size_t>(1, count / 10);
  const auto part = [&](const std::vector<std::size_t>& all, std::size_t from, std::size_t to) {
    return std::vector<std::size_t>(all.begin() + static_cast<std::ptrdiff_t>(from),
                                    all.begin() + static_cast<std::ptrdiff_t>(std::max(from + 1, to)));
  };
  auto slow = slow_snapshots(s);
  if (slow.empty()) slow = part(by_time, count - tenth, count);
  const auto numbered = [&](const char* name, std::size_t snapshot, std::vector<std::size_t> like_it) {
    return Chosen{fmt::format("{} ({})", name, first_number(s, snapshot)), snapshot, std::move(like_it)};
  };
  return {numbered("slowest", by_time.back(), slow),
          numbered("median", by_time[count / 2], part(by_time, count / 4, 3 * count / 4)),
          numbered("first", begin, part(in_order, 0, tenth)),
          numbered("last", end - 1, part(in_order, count - tenth, count))};
}

void add_counters(Table& table, const SnapshotSeries& s, const std::vector<Chosen>& chosen) {
  // Means over Chosen::like_it, of one round and rank.
  const auto of_chosen = [&](const SnapshotCounter& counter) {
    const auto mean = rank_means(s, counter.counts);
    std::vector<double> means;
    for (const Chosen& each : chosen) {
      double sum = 0;
      for (const std::size_t like : each.like_it) sum += mean[like];
      means.push_back(sum / static_cast<double>(each.like_it.size()));
    }
    return means;
  };
  const auto named = [&](const char* name) { return std::ranges::find(s.counters, name, &SnapshotCounter::name); };
  for (const SnapshotCounter& each : s.counters) {
    std::vector<Cell> cells{"(counted)", each.name};
    for (const double mean : of_chosen(each)) cells.emplace_back(count(mean));
    table.rows.push_back(std::move(cells));
  }
  const auto cycles = named("cycles"), instructions = named("instructions");
  if (cycles == s.counters.end() || instructions == s.counters.end()) return;
  const auto per = of_chosen(*cycles), done = of_chosen(*instructions);
  std::vector<Cell> cells{"(counted)", "instructions per cycle"};
  for (std::size_t i = 0; i < per.size(); ++i)
    cells.emplace_back(per[i] > 0 ? fmt::format("{:.2f}", done[i] / per[i]) : "-");
  table.rows.push_back(std::move(cells));
}

Table side_by_side(const Application& a, const SnapshotSeries& s) {
  const auto chosen = chosen_of(s);
  Table table{fmt::format("{} compared: time of one, mean over ranks", capitalised(round_word(s, false))),
              {left("Call", 16), left("called from, or function", 36)},
              {}};
  for (const Chosen& each : chosen) table.columns.emplace_back(Text(each.heading), true, 11);
  const auto row = [&](Cell name, Cell where, const std::vector<double>& of_round) {
    std::vector<Cell> cells{std::move(name), std::move(where)};
    for (const Chosen& each : chosen) cells.emplace_back(seconds(of_round[each.snapshot]));
    table.rows.push_back(std::move(cells));
  };
  row("", "all", round_means(s, s.seconds));
  row("", "outside MPI and I/O", round_means(s, own_seconds(s)));
  if (waiting_share(s) > 0) row("", "waiting in MPI", round_means(s, s.waiting_seconds));
  for (std::size_t i = 0; i < std::min(kFunctionRows, s.functions.size()); ++i) {
    const auto mean = rank_means(s, s.functions[i].seconds);
    const SnapshotFunction& f = s.functions[i];
    std::vector<Cell> cells{"(sampled)", symbol(name_as_sampled(a.samples, f.symbol, f.source_file, f.line), 36)};
    for (const Chosen& each : chosen) {
      double sum = 0;
      for (const std::size_t like : each.like_it) sum += mean[like];
      cells.emplace_back(seconds(sum / static_cast<double>(each.like_it.size())));
    }
    table.rows.push_back(std::move(cells));
  }
  for (std::size_t i = 0; i < std::min(kCallRows, s.calls.size()); ++i) {
    const SnapshotCalls& calls = s.calls[i];
    if (calls.function.empty()) continue;
    const auto all = rank_means(s, calls.seconds), waiting = rank_means(s, calls.waiting_seconds);
    row(code(calls.function), symbol(name_of(calls), 36), all);
    if (std::ranges::any_of(chosen, [&](const Chosen& each) {
          return waiting[each.snapshot] > 0 && waiting[each.snapshot] >= kWorthARow * all[each.snapshot];
        }))
      row("", "of it waiting", waiting);
  }
  add_counters(table, s, chosen);
  return table;
}

// Values that the program reported.
Table values_of(const SnapshotSeries& s) {
  Table table{fmt::format("Values reported in {}", round_word(s, false)),
              {left("Value", 24), "count", "mean", "minimum", "maximum", "mean of the first", "of the last"},
              {}};
  for (const SnapshotValue& value : s.values) {
    const auto mean = [](double sum, std::uint64_t count) {
      return count == 0 ? std::string("-") : fmt::format("{:.4g}", sum / static_cast<double>(count));
    };
    const auto count = std::accumulate(value.count.begin(), value.count.end(), std::uint64_t{0});
    double least = 0, most = 0, sum = 0;
    bool is_first = true;
    for (std::size_t i = 0; i < value.count.size(); ++i) {
      if (value.count[i] == 0) continue;
      least = is_first ? value.least[i] : std::min(least, value.least[i]);
      most = is_first ? value.most[i] : std::max(most, value.most[i]);
      sum += value.sum[i];
      is_first = false;
    }
    table.rows.push_back({code(value.name), exact(count), mean(sum, count), fmt::format("{:.4g}", least),
                          fmt::format("{:.4g}", most), mean(value.sum.front(), value.count.front()),
                          mean(value.sum.back(), value.count.back())});
  }
  return table;
}

void add_rank_moves(Section& section, const Application& a, std::size_t at) {
  Figure figure = rank_moves_figure(a, at);
  if (!figure) return;
  section.blocks.push_back(std::vector<Figure>{std::move(figure)});
  std::string text;
  for (const std::string& each : moves_in_words(a, a.snapshots.series[at], rank_moves(a.snapshots.series[at])))
    text += (text.empty() ? "" : " ") + each;
  section.blocks.push_back(Paragraph{text});
}

// shows_waiting: a series before has shown its map of waiting; a section has one at most.
void add_series(Section& section, const Application& a, std::size_t at, bool& shows_waiting) {
  const SnapshotSeries& s = a.snapshots.series[at];
  Figure figure = series_figure(a, at);
  if (s.trigger == "timer") {
    if (figure) section.blocks.push_back(std::vector<Figure>{std::move(figure)});
    return;
  }
  section.blocks.push_back(facts_of(a, s));
  if (figure) section.blocks.push_back(std::vector<Figure>{std::move(figure)});
  if (Figure lines = series_lines_figure(a, at); lines) section.blocks.push_back(std::vector<Figure>{std::move(lines)});
  if (Figure map = series_map_figure(a, at); map) section.blocks.push_back(std::vector<Figure>{std::move(map)});
  if (Figure map = shows_waiting ? Figure{} : series_waiting_map_figure(a, at); map) {
    section.blocks.push_back(std::vector<Figure>{std::move(map)});
    shows_waiting = true;
  }
  if (&s == main_series(a.snapshots)) add_rank_moves(section, a, at);
  section.blocks.push_back(side_by_side(a, s));
  if (!s.functions.empty()) {
    section.blocks.push_back(remark(fmt::format(
        "Times of functions are sampled: means over the slow {0}, the middle half, the first and the last tenth.",
        round_word(s, false))));
  }
  if (!s.values.empty()) section.blocks.push_back(values_of(s));
}

void add_limits(Section& section, const Application& a) {
  const Snapshots& snapshots = a.snapshots;
  if (snapshots.ranks_with_gaps != 0) {
    section.blocks.push_back(
        note(fmt::format("Iterations, snapshots and phases exclude {} of {}, whose packs are incomplete.",
                         snapshots.ranks_with_gaps, counted(a.ranks, "rank"))));
  }
  if (snapshots.ranks_with_sums != 0) {
    section.blocks.push_back(note(fmt::format(
        "Calls of {} of {} were reduced to sums because memory was short or --record asks for it. Iterations are not "
        "detected in these ranks; in snapshots and phases the sums are spread evenly over the time of the calls (an "
        "estimate). A larger --budget or one more analyzer process would keep the calls.",
        snapshots.ranks_with_sums, counted(a.ranks, "rank"))));
  }
  if (snapshots.unfinished_phases + snapshots.unbegun_phases != 0) {
    section.blocks.push_back(note(fmt::format("Phases not shown: {} without an end, {} without a begin.",
                                              snapshots.unfinished_phases, snapshots.unbegun_phases)));
  }
  if (snapshots.further_marks != 0) {
    section.blocks.push_back(note(fmt::format("{} not shown: a rank had more than 64 names of snapshots and phases.",
                                              counted(snapshots.further_marks, "mark", "is", "are"))));
  }
  if (snapshots.marks_of_other_threads != 0) {
    section.blocks.push_back(note(fmt::format("{} not shown: snapshots and phases of threads other than the first.",
                                              counted(snapshots.marks_of_other_threads, "mark", "is", "are"))));
  }
}

}  // namespace

Section profile_over_time(const Application& a) {
  Section section{.title = "The profile over time"};
  const auto& series = a.snapshots.series;
  bool shows_waiting = false;
  for (std::size_t i = 0; i < std::min(kMostSeries, series.size()); ++i) add_series(section, a, i, shows_waiting);
  if (series.size() > kMostSeries)
    section.blocks.push_back(note(fmt::format("profile.json has {} more series.", series.size() - kMostSeries)));
  add_limits(section, a);
  if (find_series(a.snapshots, "iteration") == nullptr && series.empty())
    section.left_out.push_back("iterations (no main loop was found)");
  return section;
}

}  // namespace ardoise::reports
