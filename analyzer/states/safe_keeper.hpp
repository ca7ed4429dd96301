// Writes what an analyzer knows in a copy of its process, which has the memory as it is now; the analyzer goes on at
// once. The copy has a session of its own, which the end of the launch does not reach: there may be no more than
// milliseconds.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>

#include "analyzer/run/analyzer_run.hpp"

namespace ardoise::analyzer {

class SafeKeeper {
 public:
  ~SafeKeeper() { wait(); }
  // `write` finds a drained run. Waits for the copy before. Where there can be none, false, and nothing is written.
  [[nodiscard]] bool keep(AnalyzerRun& run, const std::function<void()>& write);
  [[nodiscard]] bool is_busy();  // the copy still writes
  void wait();                   // until it has

  // What the last copy cost that has ended: the time for which the analyzer stood still and the copy's CPU time.
  [[nodiscard]] std::chrono::nanoseconds cost() const { return stopped_ + worked_; }

 private:
  void end(int options);  // of waitpid

  pid_t child_ = -1;
  std::chrono::nanoseconds stopped_{}, worked_{};
};

}  // namespace ardoise::analyzer
