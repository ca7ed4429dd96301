/* Calls that take nearly no time, for replay_cost.py: the extra cost of a replay for each. Prints calls and seconds. */
#include <mpi.h>
#include <stdio.h>

enum { kRounds = 500000 };

int main(int argc, char** argv) {
  int value = 0;
  MPI_Init(&argc, &argv);
  const double begin = MPI_Wtime();
  for (int i = 0; i < kRounds; ++i) {
    MPI_Request request;
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Irecv(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  printf("calls %d took %.6f\n", 4 * kRounds, MPI_Wtime() - begin);
  MPI_Finalize();
  return 0;
}
