// Has profile.json and summary.txt of what was measured so far written while the programs run, by a process of its own
// with low priority (ardoise-analyzer --snapshot --keep): every so often, and when told. On the first analyzer.
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

  // Not while the one before still writes.
  void write();

 private:
  const Options& options_;
  pid_t child_ = -1;
};

}  // namespace ardoise::analyzer
