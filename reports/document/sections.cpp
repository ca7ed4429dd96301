// The list of sections, in the order in which they stand in a program's chapter; see sections.hpp.
#include "reports/document/sections.hpp"

#include <fmt/format.h>

namespace ardoise::reports {

namespace {

// After the overview.
constexpr Section (*kSections[])(const Application&){hot_functions,
                                                     hot_lines,
                                                     callers_and_callees,
                                                     functions_over_time,
                                                     rank_groups,
                                                     threads,
                                                     counters,
                                                     mpi_profile,
                                                     call_sites,
                                                     communication,
                                                     heaviest_connections,
                                                     communicators,
                                                     density_maps,
                                                     over_time,
                                                     file_io,
                                                     extensions,
                                                     measured};

}  // namespace

Document document_of(const Run& run) {
  Document document{cover(run), {}};
  for (const Application& app : run.applications) {
    Section chapter{.title = app.name.empty() ? "program" : app.name};
    chapter.id = fmt::format("app{}", document.chapters.size());
    chapter.sections.push_back(overview(run, app));
    for (const auto& section : kSections) chapter.sections.push_back(section(app));
    document.chapters.push_back(std::move(chapter));
  }
  document.chapters.push_back(measurement_quality(run));
  return document;
}

}  // namespace ardoise::reports
