// Tells a program when a collective of its own reaches the MPI library: wrappers of the profiling interface, as tools
// have them, behind those of Ardoise.
#include "tests/programs/late_ranks_inside.h"

#include <mpi.h>

void (*late_ranks_inside)(void);

static void inside(void) {
  if (late_ranks_inside) late_ranks_inside();
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  inside();
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Barrier(MPI_Comm comm) {
  inside();
  return PMPI_Barrier(comm);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  inside();
  return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  inside();
  return PMPI_Reduce(in, out, count, type, op, root, comm);
}

int MPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  inside();
  return PMPI_Scan(in, out, count, type, op, comm);
}
