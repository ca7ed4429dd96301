// Programs that a wrapper starts (env, a shell script) with a preload list of its own. Up to MPI_Init our entry of
// LD_PRELOAD has to reach the program, but `env LD_PRELOAD=tool program` replaces the whole list: the exec functions
// put our entry back in front of a list that is there and lacks it. An environment without LD_PRELOAD is left alone.
// Besides, they tell the observer (vmpi/loader/exec_observer.hpp).
#pragma once

namespace ardoise::vmpi {

// What is started from now on is a child of the program, not the program. Called when MPI starts.
void stop_passing_preload_on() noexcept;

}  // namespace ardoise::vmpi
