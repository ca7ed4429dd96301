// The name of the partition of the analyzer's processes, by which instrument and analyzer find each other.
#pragma once

namespace ardoise::instrument {

inline constexpr const char* kAnalyzerPartition = "Analyzer";

}  // namespace ardoise::instrument
