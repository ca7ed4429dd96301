/* The time of MPI_Init and MPI_Finalize together, in seconds, of the slowest rank: the last line, "init_finalize 0.123". */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  double begin = now();
  MPI_Init(&argc, &argv);
  const double init = now() - begin;
  double slowest = 0;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(&init, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  begin = now();
  MPI_Finalize();
  if (rank == 0) printf("init_finalize %.6f\n", slowest + now() - begin);
  return 0;
}
