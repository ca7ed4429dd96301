// Why ranks sleep outside of MPI calls and file I/O, as seen by looks at their first threads.
#pragma once

#include <cstddef>

#include "reports/model.hpp"

namespace ardoise::reports {

// Parts of the time asleep; the rest is unknown.
struct SleepReasons {
  double thread = 0;     // another thread or process: a lock, a condition, a semaphore, or its end
  double pause = 0;      // sleep(), nanosleep()
  double program = 0;    // the end of a program that the rank started
  double file_lock = 0;  // flock(), fcntl()

  // No device, and no pause.
  [[nodiscard]] double of_others() const { return thread + program + file_lock; }
};

[[nodiscard]] SleepReasons sleep_reasons(const RankSummary& looks, std::size_t rank);

}  // namespace ardoise::reports
