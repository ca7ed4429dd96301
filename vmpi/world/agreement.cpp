#include "vmpi/world/agreement.hpp"

#include <unistd.h>

#include <cstdio>

namespace ardoise::vmpi {

bool all_succeeded(const Failure& failure, std::int32_t context, int rank) {
  if (failure.what() != nullptr) {
    std::fprintf(stderr,
                 "ardoise: process %d of the launch could not make the partitions because %s; a launch of several "
                 "programs ends now, a single program continues in the world of the launch.\n",
                 rank, failure.what());
  }
  int lowest[3] = {failure.what() == nullptr ? 1 : 0, context, -context};
  const int result = PMPI_Allreduce(MPI_IN_PLACE, lowest, 3, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (result == MPI_SUCCESS && lowest[0] == 1) return true;
  if (result != MPI_SUCCESS) {
    std::fprintf(stderr,
                 "ardoise: process %d of the launch cannot check that all processes made their partitions because "
                 "MPI_Allreduce failed; the launch ends.\n",
                 rank);
  }
  if (result != MPI_SUCCESS || lowest[1] != -lowest[2]) {
    ::usleep(200'000);  // Hydra discards output of the processes that it has not read yet
    PMPI_Abort(MPI_COMM_WORLD, 1);
  }
  return false;
}

}  // namespace ardoise::vmpi
