// Records or forces the races of this process (docs/guide/races.md), from MPI_Init to MPI_Finalize, whether it is
// measured or not.
#pragma once

#include <string>

#include "vmpi/wrappers/observer.hpp"

namespace ardoise::instrument {

struct RaceSettings {
  std::string record, force;  // folders; "": off
  bool stops_at_divergence = false;
  double patience_seconds = 60;  // a forced wait that takes longer is reported; 0: never
};

// Called when MPI is up and the program's world exists. Collective over it. nullptr: no call is controlled. Ends the
// program, with one sentence, if the record cannot be forced onto it.
[[nodiscard]] const vmpi::CallControl* start_races(const RaceSettings& settings, int thread_level);
// Before MPI_Finalize, in the thread that calls it.
void finish_races();
// For a fork() child: it has none of the threads and must not touch the files.
void forget_races() noexcept;
// Called for every call that the observer sees.
void note_for_races(vmpi::FunctionId function) noexcept;

}  // namespace ardoise::instrument
