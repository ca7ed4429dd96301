// A mark that others on this machine can see: this process has called MPI_Init. MPICH's MPI_Init waits for all
// processes of the launch, and one that has once called it must not be left alone; so the analyzer calls it only when a
// program has. (Open MPI tells by itself: its MPI_Init connects to a server.)
#pragma once

namespace ardoise::vmpi {

// The mark is a mapping of this name, which /proc/<pid>/maps shows.
inline constexpr const char* kInitMark = "ardoise-in-mpi-init";

void set_init_mark() noexcept;    // does nothing unless MPICH's launcher started this process
void clear_init_mark() noexcept;  // when MPI_Init is through

}  // namespace ardoise::vmpi
