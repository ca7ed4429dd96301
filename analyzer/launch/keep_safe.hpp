// Keeps profile.json and summary.txt of the measurement so far up to date while the programs run, written by a separate
// process of low priority (ardoise-analyzer --snapshot --keep): periodically, and on demand. On the first analyzer.
#pragma once

#include <sys/types.h>

#include "analyzer/options/options.hpp"

namespace ardoise::analyzer {

class KeepSafe {
 public:
  explicit KeepSafe(const Options& options) : options_(options) {}
  ~KeepSafe();  // ends the process
  KeepSafe(const KeepSafe&) = delete;
  KeepSafe& operator=(const KeepSafe&) = delete;

  // Does nothing while the previous process still writes.
  void write();

 private:
  const Options& options_;
  pid_t child_ = -1;
};

}  // namespace ardoise::analyzer
