// How others learn that a partition has ended MPI, long after it can answer no message: the launcher outlives all, and
// keeps a name that the partition's first process publishes in MPI_Finalize (MPI_Publish_name; in Open MPI a round trip
// of some 0.2 ms to mpirun). Where the launcher keeps no names, it is not learned this way.
#pragma once

namespace ardoise::vmpi {

// In MPI_Finalize, when all processes of the own partition are there. Does nothing in a launch of one partition.
void publish_end() noexcept;

[[nodiscard]] bool partition_has_ended(int partition) noexcept;

}  // namespace ardoise::vmpi
