// Notifies a program when one of its calls reaches the MPI library: wrappers of the profiling interface, like those of
// tools, behind those of Ardoise.
#include "tests/programs/late_ranks_inside.h"

#include <mpi.h>

void (*late_ranks_inside)(int starts);

static void inside(int starts) {
  if (late_ranks_inside) late_ranks_inside(starts);
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  inside(0);
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Barrier(MPI_Comm comm) {
  inside(0);
  return PMPI_Barrier(comm);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  inside(0);
  return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  inside(0);
  return PMPI_Reduce(in, out, count, type, op, root, comm);
}

int MPI_Neighbor_alltoall(const void* in, int count, MPI_Datatype type, void* out, int received,
                          MPI_Datatype received_type, MPI_Comm comm) {
  inside(0);
  return PMPI_Neighbor_alltoall(in, count, type, out, received, received_type, comm);
}

int MPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  inside(0);
  return PMPI_Scan(in, out, count, type, op, comm);
}

int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  inside(1);
  return PMPI_Iallreduce(in, out, count, type, op, comm, request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  inside(0);
  return PMPI_Wait(request, status);
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  inside(0);
  return PMPI_Waitall(count, requests, statuses);
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  inside(0);
  return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Ssend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  inside(0);
  return PMPI_Ssend(data, count, type, to, tag, comm);
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  inside(0);
  return PMPI_Recv(data, count, type, from, tag, comm, status);
}

int MPI_Win_start(MPI_Group group, int assertion, MPI_Win window) {
  inside(0);
  return PMPI_Win_start(group, assertion, window);
}

int MPI_Win_complete(MPI_Win window) {
  inside(0);
  return PMPI_Win_complete(window);
}

int MPI_Win_post(MPI_Group group, int assertion, MPI_Win window) {
  inside(0);
  return PMPI_Win_post(group, assertion, window);
}

int MPI_Win_wait(MPI_Win window) {
  inside(0);
  return PMPI_Win_wait(window);
}

int MPI_Win_lock(int type, int rank, int assertion, MPI_Win window) {
  inside(0);
  return PMPI_Win_lock(type, rank, assertion, window);
}

int MPI_Win_unlock(int rank, MPI_Win window) {
  inside(0);
  return PMPI_Win_unlock(rank, window);
}

int MPI_Win_fence(int assertion, MPI_Win window) {
  inside(0);
  return PMPI_Win_fence(assertion, window);
}
