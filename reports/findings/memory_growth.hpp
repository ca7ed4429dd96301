// Memory growth of ranks after the first third of the run, which is taken for set-up.
#pragma once

#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

struct MemoryGrowth {
  double at_end = 0;    // bytes
  double grown = 0;     // bytes, in the last two thirds of the run
  double seconds = 0;   // length of these two thirds
  double rate = 0;      // bytes a second
  bool steady = false;  // both halves of the two thirds, and their end, contribute in many steps
};

// One element for each rank; empty: memory over time is unknown.
[[nodiscard]] std::vector<MemoryGrowth> memory_growth(const Application& application);

}  // namespace ardoise::reports
