// Hooks of the exec functions. Until MPI_Init our entry of LD_PRELOAD has to reach the program through wrappers (env, a
// shell script), but `env LD_PRELOAD=tool program` replaces the whole list: the hooks put our entry back at the front
// of a list that lacks it. An environment without LD_PRELOAD is left alone. The hooks also notify the observer
// (vmpi/loader/exec_observer.hpp).
#pragma once

namespace ardoise::vmpi {

// Called when MPI starts: programs started from now on are children, not the program itself.
void stop_passing_preload_on() noexcept;

}  // namespace ardoise::vmpi
