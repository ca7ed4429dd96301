#include "analyzer/results/trace_markers.hpp"

#include <fmt/format.h>

#include <string>

#include "reports/findings/findings.hpp"

namespace ardoise::analyzer {

using knowledge_sources::TraceMarker;

namespace {

TraceMarker::Severity severity_of(reports::Severity severity) {
  switch (severity) {
    case reports::Severity::high:
      return TraceMarker::Severity::kHigh;
    case reports::Severity::medium:
      return TraceMarker::Severity::kMedium;
    case reports::Severity::note:
      break;
  }
  return TraceMarker::Severity::kLow;
}

void add_findings(const reports::Application& application, std::vector<TraceMarker>& markers) {
  for (const reports::Finding& finding : reports::findings_of(application)) {
    const std::string text = finding.advice.empty() ? finding.text : finding.text + " " + finding.advice;
    markers.push_back(
        {application.name, "finding", finding.id, severity_of(finding.severity), 0, application.wall_seconds, text});
  }
}

// "iterations 12 to 15"
void add_series(const reports::Application& application, const reports::SnapshotSeries& series,
                std::vector<TraceMarker>& markers) {
  const std::string category = series.name.empty() ? series.trigger : fmt::format("{} {}", series.trigger, series.name);
  std::uint64_t first = 1;
  for (std::size_t i = 0; i < series.rounds.size(); ++i) {
    const std::uint64_t rounds = series.rounds[i];
    std::string text = rounds == 1 ? fmt::format("{} {}", category, first)
                                   : fmt::format("{} {} to {}", category, first, first + rounds - 1);
    if (i < series.numbers.size()) text += fmt::format(" (number {})", series.numbers[i]);
    if (i < series.mpi_seconds.size())
      text += fmt::format(": {:.6f} s, {:.6f} s of them in MPI", series.seconds[i], series.mpi_seconds[i]);
    markers.push_back({application.name, "snapshot", category, TraceMarker::Severity::kNone, series.begin_seconds[i],
                       series.seconds[i], std::move(text)});
    first += rounds;
  }
}

}  // namespace

std::vector<TraceMarker> trace_markers(const reports::Run& run) {
  std::vector<TraceMarker> markers;
  for (const reports::Application& application : run.applications) {
    add_findings(application, markers);
    for (const reports::SnapshotSeries& series : application.snapshots.series) {
      if (series.trigger != "timer") add_series(application, series, markers);
    }
  }
  return markers;
}

}  // namespace ardoise::analyzer
