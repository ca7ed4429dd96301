// The rendezvous of instrument and analyzer: the name under which the analyzer's processes are a partition.
#pragma once

namespace ardoise::instrument {

inline constexpr const char* kAnalyzerPartition = "Analyzer";

}  // namespace ardoise::instrument
