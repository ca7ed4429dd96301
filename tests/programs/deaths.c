/* Counts its own calls until it is killed, or dies as its page demands. */
#include "deaths.h"

#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  deaths_open(argv[1]);
  for (int step = 0;; ++step) {
    int out = rank, in = -1, sum = 0;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 7, &in, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    deaths_exchanged(rank);
    deaths_write(rank);
    deaths_step(rank, step);
    MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    deaths_reduced(rank);
  }
}
