// One measured launch from the checks to the report: what `ardoise mpirun …` does.
#pragma once

#include <string>
#include <vector>

namespace ardoise::launcher {

// Exit statuses of the launcher's own. Once mpirun has run, it is mpirun's: what passes without us must not fail with
// us, also where there is no report.
inline constexpr int kFailedStatus = 1;  // `ardoise report` could not render
inline constexpr int kUsageStatus = 2;   // refused before anything was started

struct Options {
  unsigned analyzers = 0;  // 0: by the number of ranks
  unsigned workers = 0;    // 0: the analyzer decides
  std::string output = "ardoise-report";
  bool render = true;
  std::vector<std::string> plugins;
  std::vector<std::string> partitions;    // NAME=CONTEXT[,CONTEXT...]
  std::string budget;                     // "": the recorder's default
  std::string sample, counters;           // likewise
  std::string policy, reduce, mpi_share;  // likewise
  std::string capture;                    // folder; "": none
  bool quiet = false;
  bool verbose = false;
};

// words: the user's launch line. Returns the exit status. Throws UsageError before anything was started.
[[nodiscard]] int measure(const Options& options, const std::vector<std::string>& words);

}  // namespace ardoise::launcher
