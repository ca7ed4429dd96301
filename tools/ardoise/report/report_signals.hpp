// Handles signals while the report of a launch is made. Batch systems, `timeout` and terminals send several; those
// after the first must not end the report.
#pragma once

#include <signal.h>

#include <span>
#include <vector>

namespace ardoise::launcher {

// During its lifetime INT, TERM, HUP, QUIT, USR1 and USR2 have no effect, nor has PIPE (no reader of our messages is
// left). Children do not inherit that. Ignored signals stay ignored.
class UndisturbedReport {
 public:
  UndisturbedReport();
  ~UndisturbedReport();
  UndisturbedReport(const UndisturbedReport&) = delete;
  UndisturbedReport& operator=(const UndisturbedReport&) = delete;

 private:
  std::vector<std::pair<int, struct sigaction>> before_;
};

// During its lifetime these signals end the rendering and not this process, so that LaTeX does not go on alone and the
// job's status is returned. Ignored signals stay ignored.
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
