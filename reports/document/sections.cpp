// The sections of a program's chapter, in order; see sections.hpp.
#include "reports/document/sections.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ardoise::reports {

namespace {

struct Entry {
  Section (*section)(const Application&);
  bool in_short_report;
  unsigned summary_order = 0;  // 0: as important as the findings, or nothing in the summary
};

// The sections after the overview.
constexpr Entry kSections[]{{ending, true},
                            {waiting, true},
                            {profile_over_time, false},
                            {hot_functions, true, 2},
                            {hot_lines, true},
                            {callers_and_callees, false},
                            {functions_over_time, false},
                            {rank_groups, false},
                            {threads, false},
                            {counters, false},
                            {mpi_profile, true, 3},
                            {call_sites, true, 4},
                            {overlap, false},
                            {communication, false},
                            {heaviest_connections, false, 7},
                            {communicators, false},
                            {density_maps, false},
                            {over_time, false},
                            {file_io, false, 6},
                            {memory, false},
                            {extensions, false, 5},
                            {measured, false}};

void drop_empty_columns(Table& table) {
  for (std::size_t c = table.columns.size(); c-- > 1;) {
    const bool empty = std::all_of(table.rows.begin(), table.rows.end(), [&](const std::vector<Cell>& row) {
      return row[c].lines.empty() && row[c].number.unit == Unit::none;
    });
    if (!empty || table.rows.empty()) continue;
    const auto place = static_cast<std::ptrdiff_t>(c);
    table.columns.erase(table.columns.begin() + place);
    for (auto& row : table.rows) row.erase(row.begin() + place);
  }
}

// Lists omitted sections at the end of the chapter.
void add_left_out(Section& chapter) {
  std::string text;
  for (const Section& section : chapter.sections) {
    for (const std::string& what : section.left_out) text += (text.empty() ? "" : ", ") + what;
  }
  if (text.empty()) return;
  Section last;
  last.blocks.push_back(note("Omitted because they would show nothing: " + text + "."));
  chapter.sections.push_back(std::move(last));
}

void tidy(Section& chapter) {
  for (Section& section : chapter.sections) {
    for (Block& block : section.blocks) {
      if (auto* table = std::get_if<Table>(&block)) drop_empty_columns(*table);
    }
  }
  add_left_out(chapter);
}

// The short report has tables but no figures.
void shorten(Section& section) {
  std::erase_if(section.blocks, [](const Block& block) { return std::holds_alternative<Figures>(block); });
  section.left_out.clear();
}

}  // namespace

Document document_of(const Run& run, ReportLength length) {
  const bool is_short = length == ReportLength::brief;
  const RunFindings findings(run);
  Document document{cover(run, findings), {}};
  for (const Application& app : run.applications) {
    Section chapter{.title = app.name.empty() ? "program" : app.name};
    chapter.id = fmt::format("app{}", document.chapters.size());
    chapter.sections.push_back(overview(run, app, findings));
    for (const Entry& entry : kSections) {
      if (is_short && !entry.in_short_report) continue;
      chapter.sections.push_back(entry.section(app));
      const bool is_trust_of_several = entry.section == measured && run.applications.size() > 1;
      chapter.sections.back().summary_order = is_trust_of_several ? kLastInSummary : entry.summary_order;
    }
    document.chapters.push_back(std::move(chapter));
  }
  if (!is_short) document.chapters.push_back(measurement_quality(run));
  move_best_figure(run, findings, document);
  for (Section& chapter : document.chapters) {
    for (std::size_t i = 1; is_short && i < chapter.sections.size(); ++i) shorten(chapter.sections[i]);
    tidy(chapter);
  }
  return document;
}

}  // namespace ardoise::reports
