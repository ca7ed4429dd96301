/* See mpi_interposer.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

int library_bcasts, library_reduces;
const char* mpi_library;

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int (*next)(void*, int, MPI_Datatype, int, MPI_Comm);
  ++library_bcasts;
  *(void**)&next = dlsym(RTLD_NEXT, "MPI_Bcast");
  return next(buffer, count, type, root, comm);
}

int MPI_Reduce(const void* values, void* result, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  int (*next)(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
  ++library_reduces;
  *(void**)&next = dlsym(dlopen(mpi_library, RTLD_NOW), "MPI_Reduce");
  return next(values, result, count, type, op, root, comm);
}
