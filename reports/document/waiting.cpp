// Waiting in MPI: patterns, call sites, pairs of ranks, causes, critical path. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reports/document/sections.hpp"
#include "reports/figures/figures.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/waiting_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kWaitSites = 15, kWaitingPairs = 6, kShownCauses = 10, kPathParts = 8;
constexpr double kLeastWaitingShare = 0.001;  // of all waiting; smaller entries are omitted
constexpr double kCauseShare = 0.01, kPathShare = 0.01, kOfProcessors = 0.02;

double all_waiting(const Waiting& waiting) {
  return std::accumulate(waiting.patterns.begin(), waiting.patterns.end(), 0.0,
                         [](double sum, const WaitTotal& each) { return sum + each.seconds; });
}

Cell awaited_rank(const Application& a, const LongestWait& wait) {
  const std::uint32_t rank = awaited_in_world(a, wait);
  return rank == kNoRank ? Cell("") : Cell(exact(rank));
}

Table pattern_table(const Application& a) {
  const Facts facts(a);
  Table table{"", {left("Pattern", 46), "Count", "Time", "Share", "Longest", "at", "of rank", "for rank"}, {}};
  for (const WaitTotal& each : a.waiting.patterns) {
    table.rows.push_back({pattern_in_words(each.pattern), count(each.occurrences), seconds(each.seconds),
                          share(facts.share(each.seconds)), seconds(each.longest.seconds),
                          seconds(each.longest.begin_seconds), exact(a.world_rank(each.longest.waiter)),
                          awaited_rank(a, each.longest)});
  }
  return table;
}

Table site_table(const Application& a, double least, std::size_t& sites) {
  Table table{
      "Call sites",
      {left("Called from", 32), left("Call", 16), left("Pattern", 19), "Count", "Waiting", "Call time", "Longest"},
      {}};
  for (const WaitSite& each : a.waiting.call_sites) {
    if (each.waiting_seconds < least) continue;
    if (++sites > kWaitSites) continue;
    table.rows.push_back({symbol(name_of(each), 32), code(each.function), short_pattern(each.pattern),
                          count(each.occurrences), seconds(each.waiting_seconds), seconds(seconds_of_calls(a, each)),
                          seconds(each.longest.seconds)});
  }
  return table;
}

Table pair_table(const Application& a, double least, std::size_t& pairs) {
  std::vector<WaitEdge> edges = a.waiting.edges_between;  // ranks of the world
  for (const WaitEdge& edge : a.waiting.edges)
    edges.push_back({a.world_rank(edge.waiter), a.world_rank(edge.awaited), edge.seconds});
  std::ranges::stable_sort(edges, std::ranges::greater{}, &WaitEdge::seconds);
  const auto& origins = a.waiting.per_rank.origin_seconds;  // empty in old files
  Table table{"Waits between ranks", {"Rank", "waits for rank", "Time", "All waits for it"}, {}};
  if (!origins.empty()) table.columns.emplace_back("Caused by it");
  for (const WaitEdge& edge : edges) {
    if (edge.seconds < least) break;
    if (++pairs > kWaitingPairs) continue;
    // Ranks of other programs have their sums in those programs.
    const auto of_awaited = [&](const std::vector<double>& by_rank) {
      const std::uint32_t own = edge.awaited - a.first_rank;
      return own < by_rank.size() ? Cell(seconds(by_rank[own])) : Cell("");
    };
    table.rows.push_back({exact(edge.waiter), exact(edge.awaited), seconds(edge.seconds),
                          of_awaited(a.waiting.per_rank.caused_seconds)});
    if (!origins.empty()) table.rows.back().push_back(of_awaited(origins));
  }
  return table;
}

std::string cause_in_words(const Application& a, const WaitCause& cause) {
  if (cause.kind == "mpi") return "time inside MPI";
  if (cause.kind == "other") return "unclassified: sleeping, blocked, kernel";
  return name_as_sampled(a.samples, cause.symbol, cause.source_file, cause.line);
}

Table other_table(const Application& a, double least, std::size_t& others) {
  Table table{"Late ranks of other programs",
              {left("Program", 22), "Rank", "Waiting for it", left("Longer in", 44), "Waiting caused"},
              {}};
  for (const WaitedOther& other : a.waiting.others) {
    if (other.seconds < least) break;
    if (++others > kWaitingPairs) continue;
    const bool is_known = !other.cause.kind.empty();
    const std::string cause = is_known ? cause_in_words(a, other.cause) : "(unknown)";
    table.rows.push_back({code(other.program, 40), exact(other.rank), seconds(other.seconds),
                          other.cause.symbol.empty() ? Cell(cause) : Cell(symbol(cause, 44)),
                          is_known ? Cell(seconds(other.cause.seconds)) : Cell("")});
  }
  return table;
}

Table cause_table(const Application& a, double least, std::size_t& causes) {
  Table table{"Causes: activities on which late ranks spend more time than the waiting ranks",
              {"Late rank", left("Longer in", 52), "Waiting caused", "± at 99 %"},
              {}};
  for (const WaitCause& cause : a.waiting.causes) {
    if (cause.seconds < least) continue;
    if (++causes > kShownCauses) continue;
    const std::string name = cause_in_words(a, cause);
    table.rows.push_back({exact(a.world_rank(cause.rank)), cause.symbol.empty() ? Cell(name) : Cell(symbol(name, 52)),
                          seconds(cause.seconds), cause.error > 0 ? Cell(seconds(cause.error)) : Cell("")});
  }
  return table;
}

Cell place_of(const Application& a, const PathPart& part) {
  if (part.kind == "other") return "outside MPI, not sampled: sleeping, blocked";
  if (part.function.empty()) return symbol(name_as_sampled(a.samples, part.symbol, part.source_file, part.line), 56);
  return symbol(part.function + " in " + name_of(part), 56);
}

Table path_table(const Application& a, std::size_t& parts) {
  Table table{"Critical path: the work that determined the run time",
              {left("In", 56), "Time", "± at 99 %", "Share", "Most on rank"},
              {}};
  const double whole = path_seconds(a);
  for (const PathPart& part : a.waiting.critical_path) {
    if (part.seconds < kPathShare * whole) break;
    if (++parts > kPathParts) continue;
    table.rows.push_back({place_of(a, part), seconds(part.seconds), seconds(part.error), share(part.seconds / whole),
                          exact(a.world_rank(part.rank))});
  }
  if (const double elsewhere = a.waiting.critical_path_elsewhere_seconds; elsewhere > 0)
    table.rows.push_back(
        {"other programs of this MPI_COMM_WORLD", seconds(elsewhere), "", share(elsewhere / whole), ""});
  return table;
}

// The ranks with the largest parts of the path, and how exact it is.
std::string path_in_ranks(const Application& a) {
  const auto& of_rank = a.waiting.per_rank.critical_path_seconds;
  std::vector<std::uint32_t> ranks(of_rank.size());
  std::iota(ranks.begin(), ranks.end(), 0u);
  std::ranges::stable_sort(ranks, std::ranges::greater{}, [&](std::uint32_t rank) { return of_rank[rank]; });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(ranks.size(), 3) && of_rank[ranks[i]] > 0; ++i) {
    text += fmt::format("{} rank {} for {}", i == 0 ? "The path runs through" : ",", a.world_rank(ranks[i]),
                        human_seconds(of_rank[ranks[i]]));
  }
  if (text.empty()) return text;
  text += is_path_whole(a)
              ? ". Times of ranks are exact, times of functions are sampled. Only less work on the path shortens the "
                "run."
              : ". The path is an estimate: at a wait of unknown cause (below) it stays in the waiting rank.";
  const double unknown = a.waiting.unresolved.critical_path_seconds;
  if (const double before = a.wall_seconds - path_seconds(a) - unknown; before > kPathShare * a.wall_seconds)
    text +=
        fmt::format(" The path is {} shorter than the run: it begins in a rank that left MPI_Init later than others.",
                    human_seconds(before));
  if (a.waiting.critical_path_elsewhere_seconds > 0)
    text += " All programs of this MPI_COMM_WORLD share one path; it is exact if all their waits are known.";
  if (unknown > 0)
    text += fmt::format(" The path is unknown for {} of the run: memory for waits ran out.", human_seconds(unknown));
  return text;
}

FactList efficiency_facts(const ParallelEfficiency& e) {
  FactList list;
  const auto fact = [&](const char* name, double value, const char* meaning) {
    list.facts.emplace_back(name, fmt::format("{:.2f}: {}", value, meaning));
  };
  fact("Load balance", e.load_balance, "mean ÷ maximum of the ranks' useful time");
  fact("Serialisation", e.serialisation,
       "efficiency if waiting for other ranks in turn were the only loss (an estimate)");
  fact("Transfer", e.transfer, "efficiency if time in MPI itself were the only loss (an estimate)");
  fact("Parallel efficiency", e.parallel, "the product; above 0.8 is regarded as acceptable");
  return list;
}

std::string unknown_in_words(const UnresolvedWaiting& unresolved) {
  std::string text;
  const auto add = [&](const UnresolvedCounts& counts, const char* what, const char* incomplete) {
    const auto add_reason = [&](std::uint64_t number, const char* why) {
      if (number == 0) return;
      text += fmt::format("{}{} because {}", text.empty() ? "Waiting is unknown for " : ", for ", counted(number, what),
                          why);
    };
    add_reason(counts.folded, "the event buffer was full and earlier calls became sums");
    add_reason(counts.incomplete, incomplete);
    add_reason(counts.beyond_memory, "too many were in progress at once");
    add_reason(counts.other, "they use intercommunicators or several threads");
  };
  add(unresolved.collective_calls, "collective call", "not all ranks of the communicator were recorded");
  add(unresolved.message_ends, "message end", "the other end was not recorded");
  if (!text.empty()) text += ". ";
  if (unresolved.below_clock_seconds > 0) {
    text += fmt::format("Waits shorter than the clock error, {} in total, are not counted.",
                        human_seconds(unresolved.below_clock_seconds));
  }
  return text;
}

// Waiting for a processor, which no other rank caused.
std::string without_processor(const Application& a) {
  const auto& seconds = a.waiting.per_rank.without_processor_seconds;
  const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  if (sum < kOfProcessors * all_waiting(a.waiting)) return "";
  return fmt::format(
      "During up to {} of this waiting, ranks were ready to run but other processes occupied their processors (an "
      "estimate from kernel statistics).",
      human_seconds(sum));
}

}  // namespace

Section waiting(const Application& a) {
  Section section{.title = "Waiting in MPI"};
  const double all = all_waiting(a.waiting);
  if (!(all > 0) && unknown_in_words(a.waiting.unresolved).empty()) return section;
  section.blocks = {
      note("Measured from the times at which all ranks of a collective, or both ranks of a message, entered and left "
           "their calls. Waiting is part of the time in MPI and summed over ranks.")};
  if (all > 0) {
    std::size_t sites = 0, pairs = 0;
    if (a.waiting.efficiency.parallel > 0) section.blocks.push_back(efficiency_facts(a.waiting.efficiency));
    section.blocks.push_back(pattern_table(a));
    Table where = site_table(a, kLeastWaitingShare * all, sites);
    const std::size_t sites_shown = where.rows.size();
    section.blocks.push_back(std::move(where));
    add_rest(section.blocks, sites, sites_shown, "call sites", "waits");
    Table whom = pair_table(a, kLeastWaitingShare * all, pairs);
    const std::size_t pairs_shown = whom.rows.size();
    if (pairs_shown != 0) section.blocks.push_back(std::move(whom));
    add_rest(section.blocks, pairs, pairs_shown, "pairs of ranks");
    if (pairs_shown != 0 && !a.waiting.per_rank.origin_seconds.empty())
      section.blocks.push_back(
          remark("Caused by it: along a chain of waits, all waiting counts for the rank that delayed the first one (an "
                 "estimate)."));
    std::size_t others = 0;
    Table other = other_table(a, kLeastWaitingShare * all, others);
    const std::size_t others_shown = other.rows.size();
    if (others_shown != 0) section.blocks.push_back(std::move(other));
    add_rest(section.blocks, others, others_shown, "ranks of other programs");
    std::size_t causes = 0;
    Table why = cause_table(a, kCauseShare * all, causes);
    const std::size_t causes_shown = why.rows.size();
    if (causes_shown != 0) section.blocks.push_back(std::move(why));
    add_rest(section.blocks, causes, causes_shown, "causes", "causes");
    std::size_t parts = 0;
    Table path = path_table(a, parts);
    const std::size_t parts_shown = path.rows.size();
    if (parts_shown != 0) {
      section.blocks.push_back(std::move(path));
      add_rest(section.blocks, parts, parts_shown, "parts", "path");
      section.blocks.push_back(remark(path_in_ranks(a)));
    }
    if (Figure figure = waiting_over_time_figure(a); figure)
      section.blocks.push_back(std::vector<Figure>{std::move(figure)});
  }
  if (const std::string text = without_processor(a); !text.empty()) section.blocks.push_back(remark(text));
  const std::string unknown = unknown_in_words(a.waiting.unresolved);
  if (!unknown.empty()) section.blocks.push_back(remark(unknown));
  return section;
}

}  // namespace ardoise::reports
