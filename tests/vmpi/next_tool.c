/* A PMPI tool of somebody else, preloaded behind libvmpi: counts the sends that reach it and those of them that are on
 * the world, looks at the world when MPI is up and before it ends, and says so at the end. */
#include <mpi.h>
#include <stdio.h>

static int sends, sends_on_world, size_at_begin;

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  PMPI_Comm_size(MPI_COMM_WORLD, &size_at_begin);
  return code;
}

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm) {
  ++sends;
  sends_on_world += comm == MPI_COMM_WORLD;
  return PMPI_Send(buffer, count, type, destination, tag, comm);
}

int MPI_Finalize(void) {
  int one = 1, size_at_end = 0;
  PMPI_Allreduce(&one, &size_at_end, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  fprintf(stderr, "next tool saw %d sends, %d on the world of %d and %d\n", sends, sends_on_world, size_at_begin,
          size_at_end);
  return PMPI_Finalize();
}
