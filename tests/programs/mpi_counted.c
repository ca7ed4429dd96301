/* Counts its own calls in a file that others map, and follows its commands: see mpi_counted.h. */
#include "mpi_counted.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile double work = 1;

__attribute__((noinline)) static void relax(const struct counted_page* page) {
  while (page->pauses) {
    for (int i = 0; i < 1000; ++i) work = work * 1.0000001;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int file = open(argv[1], O_RDWR);
  struct counted_page* page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (page == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 3);
  int ends = 0;
  while (!ends) {
    int out = rank, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 7, &in, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    page->exchanges[rank] += 1;
    if (rank == 1) {
      relax(page);
      ends = page->ends;
    }
    MPI_Bcast(&ends, 1, MPI_INT, 1, MPI_COMM_WORLD);
    page->broadcasts[rank] += 1;
  }
  MPI_Finalize();
  return 0;
}
