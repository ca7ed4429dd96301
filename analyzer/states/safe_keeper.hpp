// Writes an analyzer's state in a forked copy of its process, with the memory as it is now; the analyzer continues at
// once. The copy has a session of its own, which the end of the launch does not reach: only milliseconds may be left.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>

#include "analyzer/run/analyzer_run.hpp"

namespace ardoise::analyzer {

class SafeKeeper {
 public:
  ~SafeKeeper() { wait(); }
  // `write` gets a drained run. Waits for the previous copy. False: no copy was possible, nothing is written.
  [[nodiscard]] bool keep(AnalyzerRun& run, const std::function<void()>& write);
  [[nodiscard]] bool is_busy();  // the copy still writes
  void wait();                   // until the copy has ended

  // Cost of the last copy that has ended: the pause of the analyzer and the copy's CPU time.
  [[nodiscard]] std::chrono::nanoseconds cost() const { return stopped_ + worked_; }

 private:
  void end(int options);  // options of waitpid

  pid_t child_ = -1;
  std::chrono::nanoseconds stopped_{}, worked_{};
};

}  // namespace ardoise::analyzer
