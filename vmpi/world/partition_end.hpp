// Detects that a partition has ended MPI, long after it can answer messages: its first process publishes a name in
// MPI_Finalize (MPI_Publish_name; in Open MPI a round trip of some 0.2 ms to mpirun), and the launcher, which outlives
// all processes, keeps it. Launchers that keep no names give no such notice.
#pragma once

namespace ardoise::vmpi {

// In MPI_Finalize, after all processes of the own partition have arrived. Does nothing in a launch of one partition.
void publish_end() noexcept;

[[nodiscard]] bool partition_has_ended(int partition) noexcept;

}  // namespace ardoise::vmpi
