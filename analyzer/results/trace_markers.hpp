// The markers of a trace: findings of the report, at the times they refer to.
#pragma once

#include <vector>

#include "knowledge_sources/otf2/writer/trace_marker.hpp"
#include "reports/model.hpp"

namespace ardoise::analyzer {

// Findings, over the whole run of their program; iterations, and snapshots by the program's own marks.
[[nodiscard]] std::vector<knowledge_sources::TraceMarker> trace_markers(const reports::Run& run);

}  // namespace ardoise::analyzer
