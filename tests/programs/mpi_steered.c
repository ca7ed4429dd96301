// Computes until the file argv[2] exists; creates argv[1] when all ranks compute. With argv[3] "calls" each step has an
// MPI_Iprobe; with "uneven" an MPI_Allreduce, which rank 1 reaches last, and a snapshot "step"; without it there is no
// MPI call at all. Prints the number of MPI_Iprobe calls of all ranks.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "instrument/api/ardoise.h"

static volatile double sum = 0;

static void compute(long times) {
  for (long i = 0; i < times; ++i) sum += i * 0.5;
}

// Rank 1 has four times the work of the others.
static void step_unevenly(const char* end, int rank) {
  for (int step = 1, is_over = 0; !is_over; ++step) {
    compute(rank == 1 ? 20000000 : 5000000);
    is_over = rank == 0 && access(end, F_OK) == 0;
    MPI_Allreduce(MPI_IN_PLACE, &is_over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    ardoise_snapshot("step", step);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, flag;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fclose(fopen(argv[1], "w"));
  const char* const how = argc > 3 ? argv[3] : "";
  if (strcmp(how, "uneven") == 0) step_unevenly(argv[2], rank);
  long calls = 0, all = 0;
  for (long step = 1; strcmp(how, "uneven") != 0 && (step % 64 != 0 || access(argv[2], F_OK) != 0); ++step) {
    compute(20000);
    if (strcmp(how, "calls") != 0) continue;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    ++calls;
  }
  MPI_Reduce(&calls, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("probes %ld\n", all);
  MPI_Finalize();
  return 0;
}
