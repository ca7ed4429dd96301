// The cover: the launch, a table of programs, the most important findings of all programs, the figure of the first
// finding. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kNotices = 3, kFindings = 7;

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

std::vector<std::pair<const Application*, Finding>> findings_on_cover(const Run& run) {
  std::vector<std::pair<const Application*, Finding>> all;
  for (const Application& a : run.applications) {
    for (Finding& finding : findings_of(a)) {
      if (finding.severity != Severity::note || all.empty()) all.emplace_back(&a, std::move(finding));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) {
    return std::pair(x.second.severity, x.second.weight) > std::pair(y.second.severity, y.second.weight);
  });
  if (all.size() > kFindings) all.erase(all.begin() + kFindings, all.end());
  return all;
}

void move_best_figure(const Run& run, Document& document) {
  const auto findings = findings_on_cover(run);
  if (findings.empty()) return;
  const auto& [app, finding] = findings.front();
  const auto number = static_cast<std::size_t>(app - run.applications.data());
  const bool of_functions = finding.id == "cpu.hot";
  for (const char* id : {of_functions ? "flame" : "ranks", of_functions ? "ranks" : "flame"}) {
    Figures figures = take_figure(document.chapters[number], id);
    if (figures.empty()) continue;
    if (run.applications.size() > 1) figures.front().caption = in_sentence(app->name) + ": " + figures.front().caption;
    document.cover.blocks.emplace_back(std::move(figures));
    return;
  }
}

Section cover(const Run& run) {
  Section cover{.title = "Ardoise"};
  cover.summary.push_back(Paragraph{title_line(run)});
  FactList notes, facts;
  if (!run.ended_by.empty()) notes.facts.emplace_back("Ended by", code(run.ended_by, 100).text);
  for (const std::string& notice : run.notices) notes.facts.emplace_back("Note", code(notice, 400).text);
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
    std::move(between.summary.begin(), between.summary.end(), std::back_inserter(cover.summary));
  }
  FindingList list;
  for (const auto& [app, finding] : findings_on_cover(run)) {
    list.findings.push_back(finding);
    Finding& shown = list.findings.back();
    if (run.applications.size() > 1) shown.text = in_sentence(app->name) + ": " + shown.text;
  }
  cover.blocks.push_back(list);
  add_explained(cover.blocks, list);
  return cover;
}

}  // namespace ardoise::reports
