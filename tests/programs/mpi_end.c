/* Ends as its first argument says: "abort" with MPI_Abort(37) on rank 1 while rank 0 waits, "exit" with status 5 after
 * MPI_Finalize, "leave" with status 6 and no MPI_Finalize at all. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(how, "abort") == 0) {
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 37);
    MPI_Recv(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(how, "leave") == 0) _Exit(6);
  MPI_Finalize();
  return strcmp(how, "exit") == 0 ? 5 : 0;
}
