// Delays MPI_Init until all processes of the launch on this machine have called it. Neither Open MPI nor MPICH ends a
// job in which one process has called MPI_Init and another never does: `ardoise mpirun hostname` would hang. Our
// library in the programs sets a mark in MPI_Init (vmpi/world/init_mark.hpp); when all other processes have ended
// without a mark, there is nothing to analyze. A process that uses MPI without our library sets none, so its MPI_Init
// still waits for us when it is detected, however late.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/run/event_loop.hpp"

namespace ardoise::analyzer {

struct JobState {
  enum class Kind { uses_mpi, ended_without_mpi, lacks_library } kind = Kind::uses_mpi;
  std::string program;  // lacks_library: it has loaded MPI but none of our libraries, so its MPI_Init waits for us
};

// Returns uses_mpi at once when no launcher of MPI started this process, or no program of the launch is on this
// machine.
[[nodiscard]] JobState wait_for_programs(EventLoop& loop);

// Started by the launcher of MPICH.
[[nodiscard]] bool is_mpich_launch() noexcept;

// True: the text of /proc/<pid>/maps shows MPI without one of our libraries.
[[nodiscard]] bool has_bare_mpi(std::string_view maps);

}  // namespace ardoise::analyzer
