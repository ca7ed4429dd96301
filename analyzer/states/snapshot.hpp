// A summary of a running launch's measurement so far: for `ardoise status`, or for an analyzer itself (keep_safe.hpp).
//
//   asker: .state-request "4711-98765"
//     ──▶ analyzer N: .analyzer-snapshot-4711-98765-N   its state, written by a copy of it
//     ──▶ process:    .process-state-<world>-<rank>     its current calls, its totals
//   asker: merges these, removes the files of the request
//
// Nothing waits for the asker. Records that ranks have not sent are missing, except for their sums.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "analyzer/options/options.hpp"
#include "instrument/format/process_states.hpp"

namespace ardoise::analyzer {

// On an analyzer.
class SnapshotRequests {
 public:
  static constexpr std::chrono::milliseconds kPeriod{200};

  explicit SnapshotRequests(const std::filesystem::path& folder) : file_(folder / instrument::kStateRequestName) {}

  // File name prefix for the answer to a new request; "": there is none.
  [[nodiscard]] std::string look();

 private:
  const std::filesystem::path file_;
  std::string seen_;
};

// Prints a summary of the launch that writes to options.output, and writes it with its profile if options.keep is set.
// Returns kDone, kIncomplete, or kNotRunning after a message.
[[nodiscard]] int take_snapshot(const Options& options);

}  // namespace ardoise::analyzer
