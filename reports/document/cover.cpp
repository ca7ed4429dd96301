// The cover: the launch, a table of programs, the most important findings of all programs, the figure of the first
// finding. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/findings/rank_moves.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kNotices = 3, kNoticeColumns = 300;
constexpr std::size_t kSummaryPrograms = 8;

std::string title_line(const Run& run) {
  std::uint64_t ranks = 0;
  for (const Application& a : run.applications) ranks += a.ranks;
  std::string line = fmt::format("Ardoise {}: {}, {}", code(run.tool_version, 20).text,
                                 counted(run.applications.size(), "program"), counted(ranks, "rank"));
  if (run.analyzer_ranks != 0) line += fmt::format(", {}", counted(run.analyzer_ranks, "analyzer"));
  if (!run.started.empty()) line += " · " + code(run.started, 30).text;
  if (run.running) line += " · still running";
  return line;
}

Table programs(const Run& run) {
  Table table{"",
              {left("Program", 22),
               "Ranks",
               "Wall time",
               "MPI",
               "File I/O",
               {"Load balance", true, 9},
               {"Communication efficiency", true, 16},
               {"Parallel efficiency", true, 12}},
              {}};
  for (const Application& a : run.applications) {
    const Facts facts(a);
    const auto efficiency = [&](double e) {
      return facts.efficiency.known && a.ranks > 1 ? Cell{ratio(e)} : Cell{"–"};
    };
    table.rows.push_back({code(a.name), exact(a.ranks), seconds(a.wall_seconds), share(facts.mpi_share()),
                          share(facts.io_share()), efficiency(facts.efficiency.load_balance),
                          efficiency(facts.efficiency.communication), efficiency(facts.efficiency.parallel)});
  }
  return table;
}

// A line for each program.
Table programs_in_brief(const Run& run) {
  Table table{
      "", {left("program", 22), "ranks", "wall time", "MPI", "file I/O", "load balance", "parallel efficiency"}, {}};
  for (const Application& a : run.applications) {
    if (table.rows.size() == kSummaryPrograms) break;
    const Facts facts(a);
    const bool known = facts.efficiency.known && a.ranks > 1;
    table.rows.push_back({code(a.name), exact(a.ranks), seconds(a.wall_seconds), facts.mpi_share_in_words(),
                          share(facts.io_share()), known ? Cell{ratio(facts.efficiency.load_balance)} : Cell{"–"},
                          known ? Cell{ratio(facts.efficiency.parallel)} : Cell{"–"}});
  }
  return table;
}

// Figures that show a finding, the best one first: some depend on the run. The last two are in all chapters with ranks
// or samples.
std::vector<std::string> figures_for(const std::string& id, const Application& a) {
  const auto is = [&](std::initializer_list<const char*> beginnings) {
    return std::ranges::any_of(beginnings, [&](const char* beginning) { return id.starts_with(beginning); });
  };
  const auto of_rounds = [&](const char* kind) {
    const SnapshotSeries* const main = main_series(a.snapshots);
    return main == nullptr ? "" : fmt::format("snapshots_{}{}", main - a.snapshots.series.data(), kind);
  };
  if (is({"cpu.hot", "not_optimized", "mem.alloc"})) return {"flame", "ranks"};
  if (is({"memory_growth", "memory_nearly_full"})) return {"memory", "ranks", "flame"};
  if (is({"rank_drift"})) return {of_rounds("_ranks"), of_rounds("_map"), "ranks", "flame"};
  if (is({"late.moving", "late.periodic", "late.growing", "late.phase", "late.noise"}))
    return {of_rounds("_map"), of_rounds(""), "ranks", "flame"};
  if (is({"slow_iterations", "iterations_", "outside_of_the_loop"})) return {of_rounds(""), "ranks", "flame"};
  if (is({"late.comm", "hub.", "place.ranks", "ovh.alltoall", "ovh.toobig", "ovh.hand"}))
    return {"matrix_bytes", "ranks", "flame"};
  if (is({"ovh.tiny", "ovh.volume"})) return {"sizes", "matrix_bytes", "ranks", "flame"};
  if (is({"chain.", "order.", "msg.head"})) return {of_rounds("_waiting_map"), "waiting", "ranks", "flame"};
  return {"ranks", "flame"};
}

// Removes the figure with this id from the chapter. Empty: the chapter does not have it.
Figures take_figure(Section& chapter, const std::string& id) {
  for (Section& section : chapter.sections) {
    for (std::size_t i = 0; i < section.blocks.size(); ++i) {
      auto* figures = std::get_if<Figures>(&section.blocks[i]);
      if (figures == nullptr || figures->front().id != id) continue;
      Figures taken = std::move(*figures);
      section.blocks.erase(section.blocks.begin() + static_cast<std::ptrdiff_t>(i));
      return taken;
    }
  }
  return {};
}

}  // namespace

RunFindings::RunFindings(const Run& run) {
  for (const Application& a : run.applications) of_program.push_back(findings_of(a));
  for (std::size_t program = 0; program < of_program.size(); ++program) {
    for (const Finding& finding : of_program[program]) {
      if (finding.severity != Severity::note) on_cover.push_back({program, finding});
    }
  }
  const bool only_notes = on_cover.empty();
  for (std::size_t program = 0; only_notes && program < of_program.size(); ++program)
    on_cover.push_back({program, of_program[program].front()});
  // Programs may run for different times: the most seconds lead.
  const auto seconds = [&](const OnCover& each) {
    return each.finding.weight * run.applications[each.program].wall_seconds;
  };
  std::ranges::stable_sort(on_cover, [&](const OnCover& x, const OnCover& y) {
    return std::pair(x.finding.severity, seconds(x)) > std::pair(y.finding.severity, seconds(y));
  });
  if (on_cover.size() > kSummaryFindings) on_cover.erase(on_cover.begin() + kSummaryFindings, on_cover.end());
}

void move_best_figure(const Run& run, const RunFindings& findings, Document& document) {
  if (findings.on_cover.empty()) return;
  const auto& [program, finding] = findings.on_cover.front();
  const Application& app = run.applications[program];
  for (const std::string& id : figures_for(finding.id, app)) {
    Figures figures = take_figure(document.chapters[program], id);
    if (figures.empty()) continue;
    if (run.applications.size() > 1) figures.front().caption = in_sentence(app.name) + ": " + figures.front().caption;
    document.cover.blocks.emplace_back(std::move(figures));
    return;
  }
}

Section cover(const Run& run, const RunFindings& findings) {
  Section cover{.title = "Ardoise"};
  cover.summary.push_back(Paragraph{title_line(run)});
  if (!run.ended_by.empty()) cover.summary.push_back(Paragraph{"Ended by: " + code(run.ended_by, 100).text});
  FactList notes, facts;
  for (const std::string& notice : run.notices)
    notes.facts.emplace_back("Note", first_sentences(notice, kNoticeColumns));
  cover.summary.push_back(notes);
  if (!run.command.empty()) facts.facts.emplace_back("Launched", code(run.command, 300));
  if (!run.started.empty()) facts.facts.emplace_back("Started", run.started);
  if (run.running) facts.facts.emplace_back("State", "still running: results so far");
  if (!run.ended_by.empty()) facts.facts.emplace_back("Ended by", code(run.ended_by, 100).text);
  facts.facts.emplace_back("Analysis", fmt::format("{} with {}; finished {} after the last program; ardoise {}",
                                                   counted(run.analyzer_ranks, "analyzer"),
                                                   counted(std::max(1U, run.analyzer_workers), "worker"),
                                                   human_seconds(run.analysis_seconds), run.tool_version));
  for (std::size_t i = 0; i < std::min(run.notices.size(), kNotices); ++i)
    facts.facts.emplace_back("Note", run.notices[i]);
  cover.blocks.push_back(std::move(facts));
  if (run.applications.empty()) {
    cover.summary.push_back(Paragraph{"No program delivered any data."});
    cover.blocks.push_back(Paragraph{"No program delivered any data."});
  } else {
    cover.blocks.push_back(programs(run));
    Section between = between_programs(run);
    std::move(between.blocks.begin(), between.blocks.end(), std::back_inserter(cover.blocks));
    between.blocks.clear();
    between.summary_order = 1;
    cover.sections.push_back(std::move(between));
  }
  const bool several = run.applications.size() > 1;
  FindingList list;
  for (const auto& [program, finding] : findings.on_cover)
    list.findings.push_back(with_code(finding, several ? in_sentence(run.applications[program].name) : ""));
  for (const auto& all : findings.of_program) list.further += all.size();
  list.further -= list.findings.size();
  if (several) {
    cover.summary.push_back(programs_in_brief(run));
    add_rest(cover.summary, run.applications.size(), kSummaryPrograms, "programs");
    cover.summary.push_back(list);
    add_explained(cover.summary, list);
  }
  cover.blocks.push_back(list);
  add_explained(cover.blocks, list);
  return cover;
}

}  // namespace ardoise::reports
