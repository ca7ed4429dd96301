/* One call or more of each kind of data movement, with results printed by rank 0; mpi_traffic.F90 makes the same calls in
 * the three dialects of Fortran, so that both print the same and an observer counts the same. Two or more processes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void say(const char* what, long value) {
  if (rank == 0) printf("%s %ld\n", what, value);
}

static void point_to_point(void) {
  int buffer[100], other[100], i, flag, count;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Status status, statuses[4];
  MPI_Request requests[4];
  MPI_Message message;
  for (i = 0; i < 100; ++i) buffer[i] = rank * 1000 + i;
  if (rank == 0) MPI_Send(buffer, 10, MPI_INT, 1, 5, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(other, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(buffer, 10, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
  MPI_Recv(other, 10, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(buffer, 20, MPI_INT, next, 6, other, 100, MPI_INT, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(other, 7, MPI_INT, next, 7, previous, 7, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  say("sendrecv_replace", count + other[0]);

  MPI_Irecv(other, 50, MPI_INT, previous, 8, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(other + 50, 50, MPI_INT, previous, 9, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(buffer, 30, MPI_INT, next, 8, MPI_COMM_WORLD, &requests[2]);
  MPI_Issend(buffer, 40, MPI_INT, next, 9, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Irecv(other, 50, MPI_INT, previous, 8, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(buffer, 31, MPI_INT, next, 8, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  MPI_Get_count(&statuses[0], MPI_INT, &count);
  say("waitall", count + other[30]);

  MPI_Irecv(other, 50, MPI_INT, previous, 10, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(buffer, 3, MPI_INT, next, 10, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], &status);
  requests[2] = MPI_REQUEST_NULL;
  MPI_Irecv(other, 50, MPI_INT, previous, 11, MPI_COMM_WORLD, &requests[3]);
  MPI_Send(buffer, 4, MPI_INT, next, 11, MPI_COMM_WORLD);
  MPI_Waitany(4, requests, &i, MPI_STATUS_IGNORE);
  say("waitany", requests[3] == MPI_REQUEST_NULL);
  MPI_Irecv(other, 50, MPI_INT, previous, 12, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(buffer, 5, MPI_INT, next, 12, MPI_COMM_WORLD);
  {
    int done, indices[4];
    MPI_Waitsome(4, requests, &done, indices, MPI_STATUSES_IGNORE);
    say("waitsome", 10 * done + (requests[1] == MPI_REQUEST_NULL));
  }
  MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE);
  say("testall", flag != 0);
  MPI_Testany(4, requests, &i, &flag, &status);
  say("testany", flag != 0);
  MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  say("test", flag != 0);

  MPI_Send_init(buffer, 6, MPI_INT, next, 13, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(other, 50, MPI_INT, previous, 13, MPI_COMM_WORLD, &requests[1]);
  for (i = 0; i < 3; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Start(&requests[0]);
  MPI_Start(&requests[1]);
  MPI_Waitall(2, requests, statuses);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  say("persistent", other[5]);

  MPI_Isend(buffer, 9, MPI_INT, next, 14, MPI_COMM_WORLD, &requests[0]);
  MPI_Probe(previous, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Iprobe(previous, 14, MPI_COMM_WORLD, &flag, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  say("iprobe", count + (flag != 0));
  MPI_Mprobe(previous, 14, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(other, 50, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  say("mrecv", other[8]);
}

static void datatypes(void) {
  int buffer[100], i;
  MPI_Datatype vector;
  MPI_Status status;
  for (i = 0; i < 100; ++i) buffer[i] = i + rank;
  MPI_Type_vector(10, 2, 5, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  if (rank == 0) MPI_Send(buffer, 2, vector, 1, 20, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(buffer, 100, MPI_INT, 0, 20, MPI_COMM_WORLD, &status);
  MPI_Bcast(buffer, 1, vector, 0, MPI_COMM_WORLD);
  MPI_Type_free(&vector);
  say("vector", buffer[5]);
}

static void collectives(void) {
  double in[64], out[64];
  int counts[16], displacements[16], one[16], i;
  MPI_Datatype types[16];
  MPI_Request request;
  for (i = 0; i < 64; ++i) in[i] = rank + i, out[i] = 0;
  for (i = 0; i < size; ++i) {
    counts[i] = i + 1;
    displacements[i] = i * (i + 1) / 2;
    one[i] = 1;
    types[i] = MPI_DOUBLE;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(in, 5, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  MPI_Reduce(in, out, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, in, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(in, out, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  say("allreduce", (long)out[2]);
  MPI_Gather(in, 2, MPI_DOUBLE, out, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0)
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DOUBLE, out, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  else
    MPI_Gather(in, 2, MPI_DOUBLE, NULL, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
  MPI_Gatherv(in, rank + 1, MPI_DOUBLE, out, counts, displacements, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  MPI_Scatter(in, 2, MPI_DOUBLE, out, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Scatterv(in, counts, displacements, MPI_DOUBLE, out, rank + 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Allgather(in, 2, MPI_DOUBLE, out, 2, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DOUBLE, out, 2, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Allgatherv(in, rank + 1, MPI_DOUBLE, out, counts, displacements, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Alltoall(in, 2, MPI_DOUBLE, out, 2, MPI_DOUBLE, MPI_COMM_WORLD);
  for (i = 0; i < size; ++i) displacements[i] = i;
  MPI_Alltoallv(in, one, displacements, MPI_DOUBLE, out, one, displacements, MPI_DOUBLE, MPI_COMM_WORLD);
  for (i = 0; i < size; ++i) displacements[i] = 8 * i;
  MPI_Alltoallw(in, one, displacements, types, out, one, displacements, types, MPI_COMM_WORLD);
  MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(in, out, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Scan(in, out, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Exscan(in, out, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Iallreduce(in, out, 6, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ibcast(in, 7, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  say("collectives", (long)(out[5] + in[6]));
}

static void communicators(void) {
  MPI_Comm half, duplicate, inter;
  int value = rank, group, remote, relation;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Comm_compare(duplicate, MPI_COMM_WORLD, &relation);
  say("compare", relation == MPI_CONGRUENT);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_size(half, &group);
  say("split", group);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 30, &inter);
  MPI_Comm_remote_size(inter, &remote);
  say("intercomm", remote);
  MPI_Bcast(&value, 1, MPI_INT, rank % 2 == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
  MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, inter);
  say("inter allreduce", value);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  MPI_Comm_free(&duplicate);
}

static void topologies(void) {
  int dims[1], periods[1] = {0}, in[16], out[64], i, sources[1], destinations[1], weights[1] = {1};
  int counts[2] = {2, 3}, displacements[2] = {0, 4};
  MPI_Comm grid, graph;
  dims[0] = size;
  for (i = 0; i < 16; ++i) in[i] = rank * 10 + i;
  for (i = 0; i < 64; ++i) out[i] = -1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
  MPI_Neighbor_allgather(in, 2, MPI_INT, out, 2, MPI_INT, grid);
  MPI_Neighbor_alltoall(in, 2, MPI_INT, out, 2, MPI_INT, grid);
  counts[1] = 2;
  MPI_Neighbor_alltoallv(in, counts, displacements, MPI_INT, out, counts, displacements, MPI_INT, grid);
  say("cart neighbours", out[4]);
  MPI_Comm_free(&grid);
  sources[0] = (rank + size - 1) % size;
  destinations[0] = (rank + 1) % size;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, weights, 1, destinations, weights, MPI_INFO_NULL, 0,
                                 &graph);
  MPI_Neighbor_allgather(in, 3, MPI_INT, out, 3, MPI_INT, graph);
  say("graph neighbours", out[0]);
  MPI_Comm_free(&graph);
}

static void one_sided(void) {
  long window_memory[32], values[32], result[32];
  const int target = (rank + 1) % size;
  int i;
  MPI_Win window;
  for (i = 0; i < 32; ++i) window_memory[i] = 0, values[i] = rank + i, result[i] = 0;
  MPI_Win_create(window_memory, sizeof window_memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(values, 4, MPI_LONG, target, 0, 4, MPI_LONG, window);
  MPI_Win_fence(0, window);
  MPI_Get(result, 3, MPI_LONG, target, 0, 3, MPI_LONG, window);
  MPI_Accumulate(values, 2, MPI_LONG, target, 8, 2, MPI_LONG, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  MPI_Get_accumulate(values, 2, MPI_LONG, result, 2, MPI_LONG, target, 10, 2, MPI_LONG, MPI_SUM, window);
  MPI_Win_unlock(target, window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
  MPI_Fetch_and_op(values, result, MPI_LONG, target, 12, MPI_SUM, window);
  MPI_Compare_and_swap(values, result, result + 1, MPI_LONG, target, 13, window);
  MPI_Win_flush(target, window);
  MPI_Win_unlock(target, window);
  MPI_Barrier(MPI_COMM_WORLD);
  say("window", window_memory[1] + window_memory[8]);
  MPI_Win_free(&window);
}

static void files(const char* path) {
  int values[16], i, count;
  MPI_File file;
  MPI_Status status;
  MPI_Request request;
  for (i = 0; i < 16; ++i) values[i] = rank * 100 + i;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_write_at(file, rank * 64, values, 8, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_write_at_all(file, rank * 64 + 32, values + 8, 8, MPI_INT, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  say("written", count);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_iread_at(file, rank * 64, values, 16, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_read_at(file, 32, values, 4, MPI_INT, MPI_STATUS_IGNORE);
  say("read", values[0]);
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  say("size", size);
  point_to_point();
  datatypes();
  collectives();
  communicators();
  topologies();
  one_sided();
  files(argc > 1 ? argv[1] : "mpi_traffic.out");
  MPI_Finalize();
  return 0;
}
