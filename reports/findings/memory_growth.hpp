// How the memory of ranks grows after the first third of the run, in which programs set themselves up.
#pragma once

#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

struct MemoryGrowth {
  double at_end = 0;    // bytes
  double grown = 0;     // bytes, in the last two thirds of the run
  double seconds = 0;   // as long as these are
  double rate = 0;      // bytes a second
  bool steady = false;  // both halves of these two thirds have their part in it, and their end, in many steps
};

// One element for each rank; none where memory over time is not known.
[[nodiscard]] std::vector<MemoryGrowth> memory_growth(const Application& application);

}  // namespace ardoise::reports
