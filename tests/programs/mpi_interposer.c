/* A program with an interposer of its own and one in a library that it is linked to: MPI functions, and one of libc, each
 * finding the next with RTLD_NEXT or in the MPI library (argument). Prints what rank 0 sees. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

extern int library_bcasts, library_reduces;
extern const char* mpi_library;

static int barriers, sizes;

int MPI_Barrier(MPI_Comm comm) {
  ++barriers;
  return ((int (*)(MPI_Comm))dlsym(RTLD_NEXT, "MPI_Barrier"))(comm);
}

/* Bypasses all others: natively directly to the library. */
int MPI_Comm_size(MPI_Comm comm, int* size) {
  ++sizes;
  return ((int (*)(MPI_Comm, int*))dlsym(dlopen(mpi_library, RTLD_NOW), "MPI_Comm_size"))(comm, size);
}

int getpagesize(void) { return ((int (*)(void))dlsym(RTLD_NEXT, "getpagesize"))() + 1; }

int main(int argc, char** argv) {
  int rank, size, value = 5, sum = 0;
  if (argc < 2) return 2;
  mpi_library = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("world of %d, sum %d, own: %d barriers, %d sizes, library: %d bcasts, %d reduces, page %d\n", size, sum, barriers,
           sizes, library_bcasts, library_reduces, getpagesize());
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
