/* A program that uses sessions (MPI 4) and never calls MPI_Init. Prints what rank 0 sees of its process
 * set. */
#include <mpi.h>
#include <stdio.h>

#if MPI_VERSION >= 4
static void use_session(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Info info;
  int rank, size, sum, is_initialised = -1, is_there;
  char text[32] = "";
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Initialized(&is_initialised);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "mpi_sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Session_get_pset_info(session, "mpi://WORLD", &info);
  MPI_Info_get(info, "mpi_size", sizeof text - 1, text, &is_there);
  if (rank == 0) {
    printf("%d processes, sum %d, mpi_size %s, initialised %d\n", size, sum, text, is_initialised);
    fflush(stdout);
  }
  MPI_Info_free(&info);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}
#endif

int main(void) {
#if MPI_VERSION >= 4
  use_session();
#endif
  return 0;
}
