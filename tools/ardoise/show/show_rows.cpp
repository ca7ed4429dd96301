#include "tools/ardoise/show/show_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "instrument/settings/control_file.hpp"
#include "instrument/settings/number_ranges.hpp"
#include "reports/document/sections.hpp"
#include "reports/findings/file_view.hpp"
#include "reports/findings/findings.hpp"
#include "reports/findings/rank_moves.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/findings/waiting_view.hpp"

namespace ardoise::launcher {
namespace {

using namespace reports;
using Rows = std::vector<ShownRow>;
using Ranks = const std::string&;

bool is_wanted(Ranks ranks, std::uint32_t rank) { return ranks.empty() || instrument::is_in_ranks(ranks, rank); }

double per(double sum, std::uint64_t n) { return n == 0 ? 0 : sum / static_cast<double>(n); }

Rows calls(const Run&, const Application& a, Ranks) {
  const Facts facts(a);
  Rows rows;
  for (const auto* list : {&a.mpi, &a.posix}) {
    for (const FunctionProfile& f : *list) {
      rows.push_back({f.function, f.category, count(f.calls), seconds(f.seconds), share(facts.share(f.seconds)),
                      seconds(per(f.seconds, f.calls)), seconds(f.min_seconds), seconds(f.max_seconds),
                      bytes(f.bytes_sent), bytes(f.bytes_received)});
    }
  }
  return rows;
}

ShownCell place_cell(const std::string& file, std::uint32_t line, const std::string& otherwise) {
  if (file.empty()) return otherwise;
  return {fmt::format("{}:{}", base_name(file), line), fmt::format("{}:{}", file, line)};
}

Rows sites(const Run&, const Application& a, Ranks) {
  const Facts facts(a);
  Rows rows;
  for (const CallSite& s : a.call_sites) {
    rows.push_back({s.function, ShownCell(without_parameters(s.symbol), s.symbol),
                    place_cell(s.source_file, s.line, fmt::format("{}+{:#x}", base_name(s.module), s.offset)),
                    count(s.calls), seconds(s.seconds), share(facts.share(s.seconds)), seconds(per(s.seconds, s.calls)),
                    seconds(s.min_seconds), seconds(s.max_seconds), bytes(s.bytes), exact(s.ranks)});
  }
  return rows;
}

// Edges within the program, then with other programs of its world.
Rows edges(const Run& run, const Application& a, Ranks ranks) {
  Rows rows;
  const auto add = [&](const Edge& e, std::uint32_t from, std::uint32_t to, const std::string& program) {
    if (!is_wanted(ranks, from) && !is_wanted(ranks, to)) return;
    rows.push_back({exact(from), exact(to), program, count(e.messages), bytes(e.bytes),
                    bytes(per(static_cast<double>(e.bytes), e.messages)), seconds(e.seconds)});
  };
  for (const Edge& e : a.edges) add(e, a.world_rank(e.source), a.world_rank(e.target), a.name);
  for (const Edge& e : a.edges_between) {
    const auto target = std::find_if(run.applications.begin(), run.applications.end(), [&](const Application& other) {
      return other.partition == a.partition && e.target >= other.first_rank &&
             e.target - other.first_rank < other.ranks;
    });
    add(e, e.source, e.target, target == run.applications.end() ? "(not measured)" : target->name);
  }
  return rows;
}

ShownCell function_name(const SampledFunction& f) { return {short_name(f), full_name(f)}; }

ShownCell function_place(const SampleProfile& s, std::uint32_t i) {
  const SourceLine line = line_of(s, i);
  const std::string& module = s.functions[i].module;
  return line.file.empty() ? ShownCell(base_name(module), module) : place_cell(line.file, line.number, "");
}

ShownCell sampled_place(const SampleProfile& s, const std::string& symbol, const SourceLine& told) {
  const SourceLine line = line_as_sampled(s, symbol, told);
  return place_cell(line.file, line.number, "");
}

Rows functions(const Run&, const Application& a, Ranks ranks) {
  const SampleProfile& s = a.samples;
  const auto part = [](double value, double of) { return share(of > 0 ? value / of : 0); };
  Rows rows;
  if (!ranks.empty()) {
    for (std::uint32_t r = 0; r < a.ranks; ++r) {
      if (!is_wanted(ranks, a.world_rank(r))) continue;
      for (std::size_t i = 0; i < s.per_rank.functions.size(); ++i) {
        const std::uint32_t f = s.per_rank.functions[i];
        const double self = s.per_rank.self[i * a.ranks + r];
        rows.push_back({exact(a.world_rank(r)), function_name(s.functions[f]), function_place(s, f), amount(s, self),
                        part(self, r < s.per_rank.all.size() ? s.per_rank.all[r] : 0)});
      }
    }
    return rows;
  }
  for (std::uint32_t i = 0; i < s.functions.size(); ++i) {
    const SampledFunction& f = s.functions[i];
    rows.push_back({function_name(f), function_place(s, i), count(f.samples), amount(s, f.self),
                    amount(s, f.self_error), part(f.self, s.self), amount(s, f.total), amount(s, f.total_error),
                    amount(s, f.rank_min), amount(s, f.rank_max), exact(a.world_rank(f.max_rank)), count(f.calls),
                    seconds(f.call_seconds)});
  }
  return rows;
}

ShownCell awaited_rank(const Application& a, const reports::LongestWait& wait) {
  const std::uint32_t rank = reports::awaited_in_world(a, wait);
  return rank == reports::kNoRank ? ShownCell("") : exact(rank);
}

Rows waits(const Run&, const Application& a, Ranks) {
  const Facts facts(a);
  Rows rows;
  for (const WaitSite& s : a.waiting.call_sites) {
    rows.push_back({s.function, ShownCell(without_parameters(s.symbol), s.symbol),
                    place_cell(s.source_file, s.line, fmt::format("{}+{:#x}", base_name(s.module), s.offset)),
                    s.pattern, count(s.occurrences), seconds(s.waiting_seconds), share(facts.share(s.waiting_seconds)),
                    seconds(per(s.waiting_seconds, s.occurrences)), seconds(s.longest.seconds),
                    seconds(s.longest.begin_seconds), exact(a.world_rank(s.longest.waiter)),
                    awaited_rank(a, s.longest)});
  }
  return rows;
}

Rows causes(const Run&, const Application& a, Ranks ranks) {
  Rows rows;
  for (const WaitCause& c : a.waiting.causes) {
    if (!is_wanted(ranks, a.world_rank(c.rank))) continue;
    rows.push_back({exact(a.world_rank(c.rank)), c.kind, ShownCell(without_parameters(c.symbol), c.symbol),
                    sampled_place(a.samples, c.symbol, {c.source_file, c.line}), seconds(c.seconds), seconds(c.error)});
  }
  return rows;
}

Rows path(const Run&, const Application& a, Ranks) {
  Rows rows;
  const double elsewhere = a.waiting.critical_path_elsewhere_seconds;
  for (const PathPart& p : a.waiting.critical_path) {
    const ShownCell place = p.function.empty() ? sampled_place(a.samples, p.symbol, {p.source_file, p.line})
                                               : place_cell(p.source_file, p.line, "");  // of the MPI call
    rows.push_back({p.kind, p.function, ShownCell(without_parameters(p.symbol), p.symbol), place, seconds(p.seconds),
                    seconds(p.error), share(p.seconds / std::max(reports::path_seconds(a), 1e-12)),
                    exact(a.world_rank(p.rank)), seconds(p.rank_seconds)});
  }
  if (elsewhere > 0)
    rows.push_back({ShownCell("other programs"), ShownCell(""), ShownCell(""), ShownCell(""), seconds(elsewhere),
                    ShownCell(""), share(elsewhere / reports::path_seconds(a)), ShownCell(""), ShownCell("")});
  return rows;
}

Rows files(const Run&, const Application& a, Ranks) {
  Rows rows;
  for (const FileProfile& f : a.files) {
    rows.push_back({f.path, exact(f.ranks), count(f.opens), count(f.reads), count(f.writes), count(f.calls),
                    bytes(f.bytes_read), bytes(f.bytes_written), seconds(f.seconds), access_order(f), usual_size(f),
                    count(f.consecutive), count(f.forward), count(f.strided), count(f.backward)});
  }
  return rows;
}

// "iteration", "phase solve", "timer".
std::string name_of_series(const SnapshotSeries& s) { return s.name.empty() ? s.trigger : s.trigger + " " + s.name; }

Rows snapshots(const Run&, const Application& a, Ranks) {
  Rows rows;
  for (const SnapshotSeries& s : a.snapshots.series) {
    const auto own = own_seconds(s);
    for (std::size_t i = 0; i < s.seconds.size(); ++i) {
      rows.push_back({name_of_series(s), exact(last_number(s, i)), exact(s.rounds[i]), exact(s.ranks),
                      seconds(s.begin_seconds[i]), seconds(s.seconds[i]), seconds(s.longest_seconds[i]),
                      seconds(own[i]), seconds(s.mpi_seconds[i]), seconds(s.waiting_seconds[i]),
                      seconds(s.io_seconds[i])});
    }
  }
  return rows;
}

// A row for each snapshot in which the call was made.
Rows snapshot_calls(const Run&, const Application& a, Ranks) {
  Rows rows;
  for (const SnapshotSeries& s : a.snapshots.series) {
    for (const SnapshotCalls& c : s.calls) {
      const ShownCell from(without_parameters(c.symbol), c.symbol);
      const ShownCell place = c.function.empty() ? ShownCell("")
                                                 : place_cell(c.source_file, c.line,
                                                              fmt::format("{}+{:#x}", base_name(c.module), c.offset));
      double so_far = 0, all = 0;
      for (std::size_t i = 0; i < c.calls.size(); ++i) {
        so_far += c.seconds[i];
        all += s.seconds[i] * s.ranks;
        if (c.calls[i] == 0 && c.seconds[i] == 0) continue;
        rows.push_back({name_of_series(s), exact(last_number(s, i)), c.function.empty() ? "(others)" : c.function, from,
                        place, count(c.calls[i]), seconds(c.seconds[i]), seconds(c.waiting_seconds[i]),
                        bytes(c.bytes[i]), share(all > 0 ? so_far / all : 0)});
      }
    }
  }
  return rows;
}

// Letters of the clusters in the report; "" for tenths that the report leaves out.
std::string cluster_at(const RankMoves& moves, std::size_t snapshot, std::uint32_t group) {
  const auto point = std::ranges::find(moves.groups, group) - moves.groups.begin();
  for (const RankMoves::Part& part : moves.parts) {
    if (part.begin <= snapshot && snapshot < part.end && static_cast<std::size_t>(point) < part.cluster.size())
      return letter_of(part.cluster[static_cast<std::size_t>(point)]);
  }
  return "";
}

Rows snapshot_ranks(const Run&, const Application& a, Ranks ranks) {
  Rows rows;
  for (const SnapshotSeries& s : a.snapshots.series) {
    const RankMoves moves = &s == main_series(a.snapshots) ? rank_moves(s) : RankMoves{};
    for (std::uint32_t group = 0; group < s.groups; ++group) {
      const std::uint32_t first = a.world_rank(group * s.ranks_per_group),
                          last = a.world_rank(std::min((group + 1) * s.ranks_per_group, a.ranks) - 1);
      bool wanted = ranks.empty();
      (void)instrument::for_each_range(
          ranks, [&](const instrument::NumberRange& range) { wanted |= range.first <= last && first <= range.last; });
      if (!wanted) continue;
      for (std::size_t i = 0; i < s.seconds.size(); ++i) {
        const auto of = [&](const std::vector<double>& list) {
          return list.empty() ? 0 : list[group * s.seconds.size() + i];
        };
        rows.push_back({name_of_series(s), exact(last_number(s, i)), exact(first), exact(last),
                        cluster_at(moves, i, group), seconds(of(s.own_seconds)), bytes(of(s.group_bytes)),
                        count(of(s.group_calls)), seconds(of(s.group_io_seconds))});
      }
    }
  }
  return rows;
}

}  // namespace

const std::vector<ShownTable>& shown_tables() {
  static const std::vector<ShownTable> tables{
      {"calls",
       "time_seconds",
       false,
       {{"function", "Function"},
        {"class", "Class"},
        {"calls", "Calls"},
        {"time_seconds", "Time"},
        {"share", "Share"},
        {"mean_seconds", "Mean"},
        {"shortest_seconds", "Shortest"},
        {"longest_seconds", "Longest"},
        {"sent_bytes", "Sent"},
        {"received_bytes", "Received"}},
       {},
       calls},
      {"sites",
       "time_seconds",
       false,
       {{"call", "Call"},
        {"called_from", "Called from"},
        {"place", "Place"},
        {"calls", "Calls"},
        {"time_seconds", "Time"},
        {"share", "Share"},
        {"mean_seconds", "Mean"},
        {"shortest_seconds", "Shortest"},
        {"longest_seconds", "Longest"},
        {"bytes", "Bytes"},
        {"ranks", "Ranks"}},
       {},
       sites},
      {"waits",
       "waiting_seconds",
       false,
       {{"call", "Call"},
        {"called_from", "Called from"},
        {"place", "Place"},
        {"pattern", "Pattern"},
        {"occurrences", "Occurrences"},
        {"waiting_seconds", "Waiting"},
        {"share", "Share"},
        {"mean_seconds", "Mean"},
        {"longest_seconds", "Longest"},
        {"longest_at_seconds", "at"},
        {"longest_waiter", "of rank"},
        {"longest_awaited", "for rank"}},
       {},
       waits},
      {"causes",
       "seconds",
       true,
       {{"rank", "Rank"},
        {"kind", "Does longer"},
        {"function", "Function"},
        {"place", "Place"},
        {"seconds", "Time"},
        {"error_seconds", "± at 99 %"}},
       {},
       causes},
      {"path",
       "seconds",
       false,
       {{"kind", "On the critical path"},
        {"call", "Call"},
        {"function", "Function"},
        {"place", "Place"},
        {"seconds", "Time"},
        {"error_seconds", "± at 99 %"},
        {"share", "Share"},
        {"rank", "Most on rank"},
        {"rank_seconds", "there"}},
       {},
       path},
      {"edges",
       "bytes",
       true,
       {{"from_rank", "From rank"},
        {"to_rank", "To rank"},
        {"to_program", "of program"},
        {"messages", "Messages"},
        {"bytes", "Bytes"},
        {"bytes_per_message", "Per message"},
        {"time_seconds", "Time"}},
       {},
       edges},
      // self and total are seconds, or events of the sampled counter.
      {"functions",
       "self",
       true,
       {{"function", "Function"},
        {"place", "Place"},
        {"samples", "Samples"},
        {"self", "Self"},
        {"self_half_width", "Half width"},
        {"share", "Share"},
        {"total", "Total"},
        {"total_half_width", "Half width"},
        {"least_of_ranks", "Least of ranks"},
        {"most_of_ranks", "Most of ranks"},
        {"rank_with_most", "Rank with most"},
        {"calls", "Calls"},
        {"call_seconds", "Time of calls"}},
       {{"rank", "Rank"}, {"function", "Function"}, {"place", "Place"}, {"self", "Self"}, {"share", "Share"}},
       functions},
      {"files",
       "time_seconds",
       false,
       {{"path", "File"},
        {"ranks", "Ranks"},
        {"opens", "Opens"},
        {"reads", "Reads"},
        {"writes", "Writes"},
        {"calls", "Calls"},
        {"read_bytes", "Read"},
        {"written_bytes", "Written"},
        {"time_seconds", "Time"},
        {"order", "Order"},
        {"usual_size", "Usual size"},
        {"consecutive", "Consecutive"},
        {"forward", "Forward"},
        {"strided", "Strided"},
        {"backward", "Backward"}},
       {},
       files},
      // Times are means over the ranks in step.
      {"snapshots",
       "time_seconds",
       false,
       {{"series", "Series"},
        {"number", "Number"},
        {"rounds", "Rounds"},
        {"ranks", "Ranks"},
        {"begin_seconds", "Begin"},
        {"time_seconds", "Time"},
        {"longest_rank_seconds", "Longest rank"},
        {"own_seconds", "Outside of MPI and I/O"},
        {"mpi_seconds", "MPI"},
        {"waiting_seconds", "Waiting in MPI"},
        {"io_seconds", "I/O"}},
       {},
       snapshots},
      // Sums over the ranks in step.
      {"snapshot-calls",
       "time_seconds",
       false,
       {{"series", "Series"},
        {"number", "Number"},
        {"call", "Call"},
        {"called_from", "Called from"},
        {"place", "Place"},
        {"calls", "Calls"},
        {"time_seconds", "Time"},
        {"waiting_seconds", "Waiting"},
        {"bytes", "Bytes"},
        {"share_so_far", "Share of time so far"}},
       {},
       snapshot_calls},
      // Means of the ranks in step from the first to the last one.
      {"snapshot-ranks",
       "own_seconds",
       true,
       {{"series", "Series"},
        {"number", "Number"},
        {"first_rank", "First rank"},
        {"last_rank", "Last rank"},
        {"cluster", "Cluster"},
        {"own_seconds", "Outside of MPI and I/O"},
        {"mpi_bytes", "Bytes in MPI"},
        {"mpi_calls", "MPI calls"},
        {"io_seconds", "I/O"}},
       {},
       snapshot_ranks},
  };
  return tables;
}

}  // namespace ardoise::launcher
