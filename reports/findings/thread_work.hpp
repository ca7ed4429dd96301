// What threads do: OpenMP's regions, how evenly they keep the threads busy, what is left to one thread. From samples of
// CPU time, so estimates; of programs without OpenMP the regions are empty.
#pragma once

#include <cstdint>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

// A region that the compiler made a function of, and code of the OpenMP library itself.
[[nodiscard]] bool is_region(const SampledFunction& function);
[[nodiscard]] bool is_openmp(const SampledFunction& function);

// Times in SampleProfile::unit, summed over ranks.
struct RegionWork {
  std::uint32_t function = 0;  // index into SampleProfile::functions
  std::uint32_t threads = 0;   // of a rank that were seen in any region, at most
  double total = 0;            // of all threads
  double busiest = 0;          // of the busiest thread of each rank
  double possible = 0;         // if all threads of a rank had been as busy as its busiest
  [[nodiscard]] double balance() const { return possible > 0 ? total / possible : 1; }
};

struct ThreadWork {
  std::vector<RegionWork> regions;  // by total, descending
  // The program's CPU time, in three parts.
  double in_regions = 0, in_library = 0, outside = 0;
  std::uint32_t hottest_outside = 0;  // function, where `outside` is greatest
  double of_hottest = 0;
  // Threads: those that used at least a twentieth of the CPU time of their rank's busiest one count as working.
  std::uint32_t least_working = 0, most_working = 0;  // over ranks
};

[[nodiscard]] ThreadWork thread_work(const Application& application);

}  // namespace ardoise::reports
