// See world_archive.hpp. Markers: what stands over the time of the whole trace.
#include <fmt/format.h>
#include <otf2/OTF2_MarkerWriter.h>

#include <algorithm>

#include "knowledge_sources/traces/world_archive.hpp"

namespace ardoise::knowledge_sources {

void WorldArchive::write_markers(OTF2_Archive* archive) const {
  OTF2_MarkerWriter* const out = OTF2_Archive_GetMarkerWriter(archive);
  const auto number_of = [](TraceTables::GapKind kind) { return static_cast<OTF2_MarkerRef>(kind); };
  OTF2_MarkerWriter_WriteDefMarker(out, number_of(TraceTables::GapKind::kSums), "Ardoise", "calls as sums",
                                   OTF2_SEVERITY_MEDIUM);
  OTF2_MarkerWriter_WriteDefMarker(out, number_of(TraceTables::GapKind::kMissing), "Ardoise", "calls are missing",
                                   OTF2_SEVERITY_HIGH);
  for (const TraceTables::Gap& gap : gaps_) {
    const std::string text = gap.kind == TraceTables::GapKind::kSums
                                 ? fmt::format("{} calls became sums for want of memory", gap.calls)
                                 : std::string("calls before this are missing");
    OTF2_MarkerWriter_WriteMarker(out, gap.begin, gap.end - std::min(gap.end, gap.begin), number_of(gap.kind),
                                  OTF2_MARKER_SCOPE_LOCATION_GROUP, gap.rank, text.c_str());
  }
  OTF2_Archive_CloseMarkerWriter(archive, out);
}

}  // namespace ardoise::knowledge_sources
