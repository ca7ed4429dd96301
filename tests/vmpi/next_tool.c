/* A PMPI tool of somebody else, preloaded behind libvmpi: counts the sends that reach it and says so at the end. */
#include <mpi.h>
#include <stdio.h>

static int sends;

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm) {
  ++sends;
  return PMPI_Send(buffer, count, type, destination, tag, comm);
}

int MPI_Finalize(void) {
  fprintf(stderr, "next tool saw %d sends\n", sends);
  return PMPI_Finalize();
}
