/* Another PMPI tool, preloaded behind libvmpi: counts the sends that reach it, in C and in Fortran, and those
 * of them that are on the world, looks at the world when MPI is up and before it ends, and says so at the end. */
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

/* A C program has no Fortran library. */
void pmpi_send_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) __attribute__((weak));
void pmpi_finalize_(MPI_Fint*) __attribute__((weak));

void mpi_send_(void* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* destination, MPI_Fint* tag, MPI_Fint* comm,
               MPI_Fint* ierror) {
  ++sends;
  sends_on_world += PMPI_Comm_f2c(*comm) == MPI_COMM_WORLD;
  pmpi_send_(buffer, count, type, destination, tag, comm, ierror);
}

void mpi_finalize_(MPI_Fint* ierror) {
  int size = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  fprintf(stderr, "next tool saw %d sends, %d on the world of %d in Fortran\n", sends, sends_on_world, size);
  pmpi_finalize_(ierror);
}
