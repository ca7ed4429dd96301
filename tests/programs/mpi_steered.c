// Computes until the file argv[2] is there; makes argv[1] when all ranks do so. With argv[3] each step has an
// MPI_Iprobe, without it no call of MPI at all. Prints how many calls of it all ranks have made.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, flag;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fclose(fopen(argv[1], "w"));
  volatile double sum = 0;
  long calls = 0, all = 0;
  for (long step = 1; step % 64 != 0 || access(argv[2], F_OK) != 0; ++step) {
    for (int i = 0; i < 20000; ++i) sum += i * 0.5;
    if (argc < 4) continue;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    ++calls;
  }
  MPI_Reduce(&calls, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("probes %ld\n", all);
  MPI_Finalize();
  return 0;
}
