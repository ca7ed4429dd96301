// The first page: what ran, the programs beside each other, their findings. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kNotices = 3;

std::string title_line(const Run& run) {
  std::uint64_t ranks = 0;
  for (const Application& a : run.applications) ranks += a.ranks;
  std::string line = fmt::format("Ardoise {}: {}, {}", code(run.tool_version, 20).text,
                                 counted(run.applications.size(), "program"), counted(ranks, "rank"));
  if (run.analyzer_ranks != 0) line += fmt::format(", {}", counted(run.analyzer_ranks, "analyzer"));
  if (!run.started.empty()) line += " · " + code(run.started, 30).text;
  return line;
}

Table programs(const Run& run) {
  Table table{
      "", {left("Program", 28), "Ranks", "Wall time", "MPI", "File I/O", "Load bal.", "Comm. eff.", "Par. eff."}, {}};
  for (const Application& a : run.applications) {
    const Facts facts(a);
    const auto efficiency = [&](double e) {
      return facts.efficiency.known && a.ranks > 1 ? Cell{ratio(e)} : Cell{"–"};
    };
    table.rows.push_back({code(a.name), exact(a.ranks), seconds(a.wall_seconds), share(facts.share(facts.mpi_seconds)),
                          share(facts.share(facts.io_seconds)), efficiency(facts.efficiency.load_balance),
                          efficiency(facts.efficiency.communication), efficiency(facts.efficiency.parallel)});
  }
  return table;
}

}  // namespace

Section cover(const Run& run) {
  Section cover{.title = "Ardoise"};
  cover.summary.push_back(Paragraph{title_line(run)});
  FactList notes, facts;
  for (const std::string& notice : run.notices) notes.facts.emplace_back("Note", code(notice, 400).text);
  cover.summary.push_back(notes);
  if (!run.command.empty()) facts.facts.emplace_back("Launched", code(run.command, 300));
  if (!run.started.empty()) facts.facts.emplace_back("Started", run.started);
  facts.facts.emplace_back("Analysis", fmt::format("{} of {}; finished {} after the last program; ardoise {}",
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
  const std::size_t most = run.applications.size() <= 2 ? 5 : run.applications.size() <= 4 ? 4 : 2;
  for (const Application& a : run.applications) {
    FindingList list = first_of(findings_of(a), most, "chapter");
    for (Finding& finding : list.findings) finding.advice.clear();  // the chapter gives it
    Section& program = cover.sections.emplace_back();
    program.title = a.name.empty() ? "program" : a.name;
    program.blocks.push_back(std::move(list));
  }
  return cover;
}

}  // namespace ardoise::reports
