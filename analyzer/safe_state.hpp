// What an analyzer knows, in a file of the output folder, when the launch is ended before its programs have finished
// MPI: there is a second for it, and other analyzers may be gone. The launcher has the report made of these files by
// `ardoise-analyzer --merge` afterwards, without MPI.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

#include "analyzer/analyzer_run.hpp"
#include "analyzer/options.hpp"
#include "analyzer/remains.hpp"
#include "analyzer/results.hpp"
#include "knowledge_sources/reduction.hpp"

namespace ardoise::analyzer {

// Beside the numbers of a run.
struct SafeFacts {
  std::vector<knowledge_sources::Program> programs;
  RunFacts run;
  std::vector<std::string> first_gone;  // "rank 3 of solver": processes that ended before others
  NextPacks arrived;                    // so that what is left of processes is not counted twice
  bool is_first = false;                // written at the begin, in case that this analyzer is killed
};

// Of a drained run; rank: among the analyzers. Says why when it cannot.
void write_safe_state(const AnalyzerRun& run, const SafeFacts& facts, unsigned rank, const Options& options);

void remove_safe_state(unsigned rank, const Options& options);

// Writes in a child that has a session of its own, which the end of the launch does not reach: there may be no more
// than milliseconds, and a child has the memory as it is now. Where there can be none, it writes itself.
class SafeKeeper {
 public:
  void keep(const std::function<void()>& write);
  [[nodiscard]] bool has_kept() const { return has_kept_; }
  void wait();  // for the children

 private:
  bool has_kept_ = false;
  std::vector<pid_t> children_;
};

// The report of the states in options.output, which are removed when it is written. Returns kDone or kIncomplete.
[[nodiscard]] int merge_safe_states(const Options& options);

}  // namespace ardoise::analyzer
