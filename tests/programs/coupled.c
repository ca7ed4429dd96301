/* One of several programs that expect a common MPI_COMM_WORLD: tells them apart by MPI_APPNUM, as coupled codes do,
 * works within its group and across groups, and prints the results of all, in rank order. coupled NAME */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, own_rank, own_size, found = 0;
  int* number = NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found);
  const int context = found ? *number : -1;
  MPI_Comm own;
  MPI_Comm_split(MPI_COMM_WORLD, context, rank, &own);
  MPI_Comm_rank(own, &own_rank);
  MPI_Comm_size(own, &own_size);

  /* Each context's first process talks to that of the next one through an intercommunicator, with the world as peer. */
  int firsts[2] = {size, -1};
  int bounds[2];
  if (own_rank == 0 && context == 0) firsts[0] = rank;
  if (own_rank == 0 && context == 1) firsts[1] = rank;
  MPI_Allreduce(&firsts[0], &bounds[0], 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&firsts[1], &bounds[1], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  /* One message between them, too. */
  if (rank == bounds[0]) MPI_Send(bounds, 2, MPI_INT, bounds[1], 7, MPI_COMM_WORLD);
  if (rank == bounds[1]) MPI_Recv(firsts, 2, MPI_INT, bounds[0], 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int sum = 0;
  if (context == 0 || context == 1) {
    MPI_Comm across;
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, bounds[1 - context], 3, &across);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, across); /* of the other side's ranks */
    MPI_Comm_free(&across);
  }
  char line[200];
  char lines[64][200];
  memset(line, 0, sizeof line);
  snprintf(line, sizeof line, "%s: rank %d of %d, context %d, rank %d of %d in it, the other side's ranks sum to %d",
           argc > 1 ? argv[1] : "?", rank, size, context, own_rank, own_size, sum);
  if (size > 64) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Gather(line, sizeof line, MPI_CHAR, lines, sizeof line, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i) printf("%s\n", lines[i]);
  MPI_Comm_free(&own);
  MPI_Finalize();
  return 0;
}
