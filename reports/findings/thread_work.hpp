// CPU time of threads in OpenMP regions, their balance, and the serial part. Estimates from samples; without OpenMP
// there are no regions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

// A region that the compiler outlined into a function; is_openmp() also includes the OpenMP library.
[[nodiscard]] bool is_region(const SampledFunction& function);
[[nodiscard]] bool is_openmp(const SampledFunction& function);

// Times in SampleProfile::unit, summed over ranks.
struct RegionWork {
  std::uint32_t function = 0;  // index into SampleProfile::functions
  std::uint32_t threads = 0;   // threads of a rank seen in any region, maximum over ranks
  double total = 0;            // of all threads
  double busiest = 0;          // of the busiest thread of each rank
  double possible = 0;         // if all threads of a rank had been as busy as its busiest
  [[nodiscard]] double balance() const { return possible > 0 ? total / possible : 1; }
};

struct ThreadWork {
  std::vector<RegionWork> regions;  // by total, descending
  // Parts of the program's CPU time; outside: of first threads, outside of regions.
  double in_regions = 0, in_library = 0, outside = 0;
  // To start and end threads, if first threads do that. A part is not sampled: an estimate.
  double of_start = 0;
  std::uint32_t started_in = 0;       // the function with most of it
  std::uint32_t hottest_outside = 0;  // the function with most of `outside`
  double of_hottest = 0;
  // Working threads of a rank, over ranks: they used at least a twentieth of the CPU time of the rank's busiest thread.
  std::uint32_t least_working = 0, most_working = 0;
};

// Nodes of the call tree in threads other than the first ones.
[[nodiscard]] std::vector<bool> in_other_threads(const SampleProfile& samples);

[[nodiscard]] ThreadWork thread_work(const Application& application);

// Sampled threads of a rank, and their CPU time.
struct RankThreads {
  std::uint32_t all = 0, working = 0;  // working: as least_working
  double busiest = 0;                  // of one thread
  double of_all = 0, of_working = 0;
  bool first_only_waits = false;  // the first thread hardly works: it starts the others and joins them
};
[[nodiscard]] std::map<std::uint32_t, RankThreads> threads_of_ranks(const SampledThreads& threads);  // by rank

[[nodiscard]] bool is_lock(const SampledFunction& function);

// CPU time for locks of a program whose ranks have several working threads.
struct LockWork {
  double in_functions = 0;  // of locks
  double in_kernel = 0;     // which puts threads to sleep and wakes them, if the functions take a good part
  bool matters = false;
};
[[nodiscard]] LockWork lock_work(const Application& application);

// More threads than processors in the affinity mask of at least half of the ranks, on hosts with more processors.
struct TightBinding {
  std::uint32_t threads = 0, processors = 0;  // of such a rank
  std::uint32_t ranks = 0;
  std::uint32_t of_host = 0;  // processors
};
[[nodiscard]] std::optional<TightBinding> tight_binding(const Application& application, const ThreadWork& work);

}  // namespace ardoise::reports
