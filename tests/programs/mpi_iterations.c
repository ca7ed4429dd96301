/* A main loop whose iterations are known to differ:
 *
 *   mpi_iterations slow      the 40th of 100 sleeps; an exchange of neighbours within each
 *   mpi_iterations drift     rank 2 sleeps longer and longer
 *   mpi_iterations grow      what MPI_Alltoall sends grows
 *   mpi_iterations regrid    each 25th does more, and writes
 *   mpi_iterations twice     two exchanges from one place in each, one after the other
 *   mpi_iterations none      no loop: calls in an order by lot */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ITERATIONS = 100 };

static void work(int microseconds) { usleep((useconds_t)microseconds); }

static void exchange(int rank, int size) {
  double out = rank, in = 0;
  MPI_Sendrecv(&out, 1, MPI_DOUBLE, (rank + 1) % size, 1, &in, 1, MPI_DOUBLE, (rank + size - 1) % size, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void transpose(int size, int count) {
  const size_t bytes = (size_t)size * (size_t)count;
  char *out = malloc(bytes), *in = malloc(bytes);
  memset(out, 1, bytes);
  MPI_Alltoall(out, count, MPI_CHAR, in, count, MPI_CHAR, MPI_COMM_WORLD);
  free(out);
  free(in);
}

static void regrid(void) {
  FILE* const file = fopen("/dev/null", "w");
  fwrite("a mesh\n", 1, 7, file);
  work(20000);
  fclose(file);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void in_an_order_by_lot(int rank, int size) {
  srand(7); /* on all ranks the same */
  for (int i = 0; i < 300; ++i) {
    double value = 1, sum = 0;
    switch (rand() % 4) {
      case 0: MPI_Barrier(MPI_COMM_WORLD); break;
      case 1: MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
      case 2: MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
      default: exchange(rank, size);
    }
  }
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(what, "none") == 0) in_an_order_by_lot(rank, size);
  for (int i = 1; i <= ITERATIONS && strcmp(what, "none") != 0; ++i) {
    double value = i, sum = 0;
    for (int times = strcmp(what, "twice") == 0 ? 2 : 1; times != 0; --times) exchange(rank, size);
    work(strcmp(what, "twice") == 0 ? 20000 : 1000);
    if (strcmp(what, "slow") == 0 && i == 40 && rank == 1) work(400000);
    if (strcmp(what, "drift") == 0 && rank == 2) work(300 * i);
    if (strcmp(what, "grow") == 0) transpose(size, 1 + 20000 * i);
    if (strcmp(what, "regrid") == 0 && i % 25 == 0) regrid();
    if (strcmp(what, "twice") != 0) MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
