// Signals while the report of a launch is made. Batch systems, `timeout` and terminals send several: those after the
// first one must not cost the report.
#pragma once

#include <signal.h>

#include <span>
#include <vector>

namespace ardoise::launcher {

// While it lives, signals have no effect: INT, TERM, HUP, QUIT, USR1 and USR2, and PIPE, where nobody reads any more
// what is said. Children do not inherit that. Signals that are ignored stay so.
class UndisturbedReport {
 public:
  UndisturbedReport();
  ~UndisturbedReport();
  UndisturbedReport(const UndisturbedReport&) = delete;
  UndisturbedReport& operator=(const UndisturbedReport&) = delete;

 private:
  std::vector<std::pair<int, struct sigaction>> before_;
};

// While it lives, these signals end the rendering and not this process, so that no LaTeX goes on alone and the status
// of the job is told. Signals that are ignored stay so.
class InterruptibleRendering {
 public:
  explicit InterruptibleRendering(std::span<const int> signals);
  ~InterruptibleRendering();
  InterruptibleRendering(const InterruptibleRendering&) = delete;
  InterruptibleRendering& operator=(const InterruptibleRendering&) = delete;

 private:
  std::vector<std::pair<int, struct sigaction>> before_;
};

}  // namespace ardoise::launcher
