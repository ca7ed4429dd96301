// Runs another program (Graphviz, LaTeX) and waits for it, with a time limit. Used where figures and the PDF are made.
#pragma once

#include <string>
#include <vector>

namespace ardoise::reports {

struct ChildResult {
  enum class End { finished, not_found, timed_out, interrupted, failed_to_start } end = End::failed_to_start;
  int status = -1;  // exit status when finished; 128 + signal when a signal ended it
  [[nodiscard]] bool ok() const { return end == End::finished && status == 0; }
};

struct ChildOptions {
  std::string folder;  // working directory, "" this one
  double timeout_seconds = 60;
  std::vector<std::string> variables;  // of its environment, NAME=VALUE, besides or instead of this process's
};

// From now on run_child starts nothing, and ends what runs; 0 again: as before. Async-signal-safe.
void interrupt_children(bool interrupted) noexcept;

// `arguments[0]` is looked up in PATH; no shell is involved. Standard input is empty, output is thrown away. A child
// that takes too long is killed with its own children; where this process is killed, it ends, too. The variables that
// would put our preload library or a launcher into it are removed.
[[nodiscard]] ChildResult run_child(const std::vector<std::string>& arguments, const ChildOptions& options);

}  // namespace ardoise::reports
