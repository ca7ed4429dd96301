// What a running launch has measured so far, for who asks: `ardoise status`, or an analyzer itself (keep_safe.hpp).
//
//   asker: .ask "4711-98765" ──▶ analyzer N: .analyzer-snapshot-4711-98765-N     its state, written by a copy of it
//                            ──▶ process:    .stand-<world>-<rank>                where it is, its totals
//   asker: merges these, removes what was for it
//
// Nothing waits for the asker. What ranks have recorded and not sent is missing, but for their sums.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "analyzer/options/options.hpp"
#include "instrument/format/stands.hpp"

namespace ardoise::analyzer {

// On an analyzer.
class SnapshotRequests {
 public:
  static constexpr std::chrono::milliseconds kPeriod{200};

  explicit SnapshotRequests(const std::filesystem::path& folder) : file_(folder / instrument::kAskName) {}

  // What the file of the answer begins with, where there is a request that has not been seen yet; "": there is none.
  [[nodiscard]] std::string look();

 private:
  const std::filesystem::path file_;
  std::string seen_;
};

// Prints a summary of the launch that reports to options.output, and writes it with its profile where options.keep says
// so. Returns kDone, kIncomplete, or kNotRunning: then it said why.
[[nodiscard]] int take_snapshot(const Options& options);

}  // namespace ardoise::analyzer
