// Markers over the time of the whole trace.
#include <fmt/format.h>
#include <otf2/OTF2_MarkerWriter.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "knowledge_sources/containers/counted.hpp"
#include "knowledge_sources/otf2/writer/world_archive.hpp"

namespace ardoise::knowledge_sources {

namespace {

OTF2_MarkerSeverity severity_of(TraceMarker::Severity severity) {
  switch (severity) {
    case TraceMarker::Severity::kHigh:
      return OTF2_SEVERITY_HIGH;
    case TraceMarker::Severity::kMedium:
      return OTF2_SEVERITY_MEDIUM;
    case TraceMarker::Severity::kLow:
      return OTF2_SEVERITY_LOW;
    case TraceMarker::Severity::kNone:
      break;
  }
  return OTF2_SEVERITY_NONE;
}

// Equal markers at different times share one definition.
class MarkerWriter {
 public:
  explicit MarkerWriter(OTF2_MarkerWriter* out) : out_(out) {}
  void write(const std::string& group, const std::string& category, TraceMarker::Severity severity, std::uint64_t begin,
             std::uint64_t end, OTF2_MarkerScope scope, std::uint64_t of, const std::string& text) {
    const auto [known, is_new] =
        numbers_.try_emplace({group, category, severity}, static_cast<OTF2_MarkerRef>(numbers_.size()));
    if (is_new)
      OTF2_MarkerWriter_WriteDefMarker(out_, known->second, group.c_str(), category.c_str(), severity_of(severity));
    OTF2_MarkerWriter_WriteMarker(out_, begin, end - std::min(end, begin), known->second, scope, of, text.c_str());
  }

 private:
  OTF2_MarkerWriter* out_;
  std::map<std::tuple<std::string, std::string, TraceMarker::Severity>, OTF2_MarkerRef> numbers_;
};

}  // namespace

void WorldArchive::add(const TraceMarker& marker) {
  if (markers_.size() < kMostMarkers) {
    markers_.push_back(marker);
  } else {
    ++further_markers_;
  }
}

void WorldArchive::write_markers(OTF2_Archive* archive) const {
  OTF2_MarkerWriter* const file = OTF2_Archive_GetMarkerWriter(archive);
  MarkerWriter out(file);
  for (const TraceTables::Gap& gap : gaps_) {
    const bool is_sums = gap.kind == TraceTables::GapKind::kSums;
    out.write("Ardoise", is_sums ? "aggregated calls" : "calls are missing",
              is_sums ? TraceMarker::Severity::kMedium : TraceMarker::Severity::kHigh, gap.begin, gap.end,
              OTF2_MARKER_SCOPE_LOCATION_GROUP, gap.rank,
              is_sums ? counted(gap.calls, "call") + " were aggregated for lack of memory"
                      : std::string("calls before this are missing"));
  }
  // Only the part within the time of the trace, which may cover a part of the run.
  const Range range = this->range();
  const auto time_of = [](double seconds) {
    return kTraceLead + static_cast<std::uint64_t>(std::max(seconds, 0.0) * 1e9);
  };
  for (const TraceMarker& marker : markers_) {
    const std::uint64_t begin = time_of(marker.begin_seconds), end = time_of(marker.begin_seconds + marker.seconds);
    if (begin > range.last || end < range.first) continue;
    const bool is_of_all =
        std::ranges::all_of(ranks_, [&](const OfRank& rank) { return rank.program == marker.program; });
    out.write("Ardoise " + marker.group, marker.category, marker.severity, std::max(begin, range.first),
              std::min(end, range.last), OTF2_MARKER_SCOPE_GLOBAL, 0,
              is_of_all ? marker.text : fmt::format("{}: {}", marker.program, marker.text));
  }
  OTF2_Archive_CloseMarkerWriter(archive, file);
}

}  // namespace ardoise::knowledge_sources
