/* Two ranks, each kind of communication a known number of times with known bytes; preload_test.cpp has the sums. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  int numbers[1000] = {0};
  double in = 1, out = 0;

  /* 10 messages of 400 bytes from 0 to 1; the receiver offers more room and ignores the status. */
  for (int i = 0; i < 10; ++i) {
    if (rank == 0) MPI_Send(numbers, 100, MPI_INT, 1, 7, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(numbers, 1000, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  /* A column of every fourth integer: 5 exchanges of 25 of them. The type is freed while the messages are on their way.
   */
  for (int i = 0; i < 5; ++i) {
    MPI_Datatype column;
    MPI_Request requests[2];
    MPI_Type_vector(25, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Irecv(numbers, 1, column, other, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(numbers + 500, 1, column, other, 8, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&column);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  /* 3 exchanges of 12 bytes against 8 from rank 1's point of view: both directions are counted. */
  for (int i = 0; i < 3; ++i) {
    MPI_Sendrecv(numbers, rank == 0 ? 2 : 3, MPI_INT, other, 9, numbers + 100, 10, MPI_INT, other, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  /* Persistent: 4 starts of one pair. */
  MPI_Request persistent[2];
  MPI_Recv_init(numbers, 10, MPI_INT, other, 10, MPI_COMM_WORLD, &persistent[0]);
  MPI_Send_init(numbers + 100, 5, MPI_INT, other, 10, MPI_COMM_WORLD, &persistent[1]);
  for (int i = 0; i < 4; ++i) {
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&persistent[0]);
  MPI_Request_free(&persistent[1]);
  /* Collectives. The second counts more than 4 GiB and touches no memory: in place, alone. */
  for (int i = 0; i < 6; ++i) MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, numbers, 600000000, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  /* To MPI_PROC_NULL. */
  MPI_Send(numbers, 100, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  MPI_Request nobody;
  MPI_Irecv(numbers, 100, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &nobody);
  MPI_Wait(&nobody, MPI_STATUS_IGNORE);
  /* Communicators: one with the ranks reversed, a ring of the world, one with a name. */
  MPI_Comm reversed, ring, named;
  const int dimensions[2] = {2, 1}, periods[2] = {1, 0};
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions, periods, 0, &ring);
  MPI_Comm_dup(MPI_COMM_WORLD, &named);
  MPI_Comm_set_name(named, "halo");
  if (rank == 0) MPI_Send(numbers, 1, MPI_INT, 0, 11, reversed); /* to rank 1 of the world */
  if (rank == 1) MPI_Recv(numbers, 1, MPI_INT, 1, 11, reversed, MPI_STATUS_IGNORE);
  MPI_Barrier(named);
  int to_neighbours[4] = {0}, from_neighbours[4];
  MPI_Neighbor_alltoall(to_neighbours, 1, MPI_INT, from_neighbours, 1, MPI_INT, ring);
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&named);
  /* One-sided. */
  MPI_Win window;
  MPI_Win_create(numbers, sizeof(numbers), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  /* A file through MPI: 1,000 bytes each. */
  char name[4096];
  MPI_File file;
  const char* directory = getenv("TEST_DIRECTORY");
  int length = 0;
  for (; directory[length] != '\0'; ++length) name[length] = directory[length];
  const char tail[] = "/field.bin";
  for (int i = 0; i < (int)sizeof(tail); ++i) name[length + i] = tail[i];
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_write_at(file, rank * 1000, numbers, 1000, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
