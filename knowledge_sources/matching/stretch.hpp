// A rank's activity between two synchronisations with another rank: the stretch of time in which it became late, or
// early.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ardoise::knowledge_sources {

// A point in a thread's time, and its activity up to there.
struct ThreadProgress {
  double time = 0;     // ns on the program's time axis
  double mpi = 0;      // ns in calls of MPI
  double sampled = 0;  // ns of CPU time of samples outside MPI
};

// Begin and end of a call, and the end of the last earlier call in which the thread could wait.
struct CallMoments {
  ThreadProgress begin, end, before;
};

// ns, since the last synchronisation.
struct Stretch {
  float all, mpi, sampled;
  std::uint32_t place;  // of one of its samples (rank_places.hpp); 0: none
};

[[nodiscard]] inline Stretch stretch_between(const ThreadProgress& from, const ThreadProgress& to) {
  const auto ns = [](double difference) { return static_cast<float>(std::max(0.0, difference)); };
  return {ns(to.time - from.time), ns(to.mpi - from.mpi), ns(to.sampled - from.sampled), 0};
}

}  // namespace ardoise::knowledge_sources
