/* Hangs in the way of the first argument; "slow" does not hang, it is only slow. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const how = argv[1];
  MPI_Comm first, second;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_dup(MPI_COMM_WORLD, &second);
  if (!strcmp(how, "ring"))
    MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (!strcmp(how, "order")) MPI_Barrier(rank == 0 ? first : second);
  if (!strcmp(how, "missing") && rank == 0) MPI_Recv(&value, 1, MPI_INT, 1, 5, first, MPI_STATUS_IGNORE);
  if (!strcmp(how, "sleep")) {
    if (rank == 1) sleep(1000);
    MPI_Barrier(first);
  }
  /* Long, but no hang: goes on before the limit is over, again and again. */
  if (!strcmp(how, "slow")) {
    for (int i = 0; i < 3; ++i) {
      if (rank == 1) usleep(700000);
      MPI_Barrier(first);
    }
  }
  MPI_Finalize();
  return 0;
}
