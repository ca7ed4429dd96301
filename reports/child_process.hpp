// Runs another program (Graphviz, LaTeX) and waits for it, with a time limit.
#pragma once

#include <string>
#include <vector>

namespace ardoise::reports {

struct ChildResult {
  enum class End { finished, not_found, timed_out, interrupted, failed_to_start } end = End::failed_to_start;
  int status = -1;  // if finished: exit status, or 128 + signal
  [[nodiscard]] bool ok() const { return end == End::finished && status == 0; }
};

struct ChildOptions {
  std::string folder;  // working directory; "": this process's
  double timeout_seconds = 60;
  std::vector<std::string> variables;  // NAME=VALUE, added to this process's environment or replacing its variables
};

// true: run_child starts no program and ends a running one, until called with false. Async-signal-safe.
void interrupt_children(bool interrupted) noexcept;

// `arguments[0]` is looked up in PATH; no shell is involved. Standard input is empty, output is discarded. A child that
// takes too long is killed with its own children; a child also ends when this process is killed. Variables that would
// load our preload library or connect to a launcher are removed.
[[nodiscard]] ChildResult run_child(const std::vector<std::string>& arguments, const ChildOptions& options);

}  // namespace ardoise::reports
