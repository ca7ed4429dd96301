// `ardoise trace report|profile|snapshots`: a trace of anybody's as if its program had run under Ardoise.
#pragma once

#include <string>

namespace ardoise::launcher {

enum class TraceResult { kReport, kProfile, kSnapshots };

struct TraceAnalysis {
  TraceResult result = TraceResult::kReport;
  std::string trace;            // traces.otf2, its folder, or the folder of a report
  std::string output;           // folder of what is made
  std::string every = "100ms";  // between two snapshots
};

// Runs ardoise-analyzer on the trace and waits for it. Returns the exit status. Throws UsageError where it is not
// there.
[[nodiscard]] int analyze_trace(const TraceAnalysis& analysis);

}  // namespace ardoise::launcher
