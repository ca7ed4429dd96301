// Races of this process recorded or forced (docs/guide/races.md), from MPI_Init to MPI_Finalize, whether it is measured
// or not.
#pragma once

#include <string>

#include "vmpi/wrappers/observer.hpp"

namespace ardoise::instrument {

struct RaceSettings {
  std::string record, force;  // folders; "": not
  bool stops_at_divergence = false;
  double patience_seconds = 60;  // after which a forced wait is told; 0: never
};

// MPI is up, the program's world is there. Collective over it. nullptr: no call is controlled. Ends the program, with
// one sentence, where a record cannot be forced onto it.
[[nodiscard]] const vmpi::CallControl* start_races(const RaceSettings& settings, int thread_level);
// Before MPI_Finalize, in the thread that calls it.
void finish_races();
// A copy of the process, which has none of its threads and must leave the files alone.
void forget_races() noexcept;
// Any call that is told to the observer.
void note_for_races(vmpi::FunctionId function) noexcept;

}  // namespace ardoise::instrument
