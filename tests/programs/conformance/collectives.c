/* Collective communication: each operation blocking, non-blocking and (where the MPI has them) persistent, on
 * intra- and intercommunicators, in place, with predefined and own operations. */
#include "conformance.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdio.h>

enum { kBlocking, kNonBlocking, kPersistent };
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
enum { kModes = 3 };
#define PERSISTENT(call)                 \
  call;                                  \
  for (int twice = 0; twice < 2; ++twice) { \
    MPI_Start(&request);                 \
    MPI_Wait(&request, MPI_STATUS_IGNORE); \
  }                                      \
  MPI_Request_free(&request)
#define PERSISTENT_OF(name, ...) PERSISTENT(MPIX_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request))
#define PERSISTENT_BARRIER PERSISTENT(MPIX_Barrier_init(comm, MPI_INFO_NULL, &request))
#else
enum { kModes = 2 };
#define PERSISTENT_OF(name, ...)
#define PERSISTENT_BARRIER
#endif

/* RUN(Bcast, bcast, buffer, ...): the operation in this mode; the communicator is `comm`. */
#define RUN(name, small, ...)                       \
  do {                                              \
    MPI_Request request = MPI_REQUEST_NULL;         \
    clear();                                        \
    if (mode == kBlocking) {                        \
      MPI_##name(__VA_ARGS__, comm);                \
    } else if (mode == kNonBlocking) {              \
      MPI_I##small(__VA_ARGS__, comm, &request);    \
      MPI_Wait(&request, MPI_STATUS_IGNORE);        \
    } else {                                        \
      PERSISTENT_OF(name, __VA_ARGS__);             \
    }                                               \
    tell(#name, mode);                              \
  } while (0)

enum { kRoom = 16 };
static const char* where;
static MPI_Comm comm;
static int rank, size; /* of the sending group: the remote one in an intercommunicator */
static int out[kRoom], in[kRoom];

static void clear(void) {
  for (int i = 0; i < kRoom; ++i) {
    in[i] = -1;
    out[i] = 100 * world_rank + i;
  }
}

static void tell(const char* what, int mode) {
  char text[256];
  int at = 0;
  for (int i = 0; i < kRoom && at < 240; ++i) at += snprintf(text + at, sizeof text - (size_t)at, " %d", in[i]);
  say("%s %s %d:%s | %d", where, what, mode, text, out[0]);
}

/* Not commutative: the result shows the order of ranks. */
static void in_order(void* left, void* right, int* count, MPI_Datatype* type) {
  int* const a = left;
  int* const b = right;
  (void)type;
  for (int i = 0; i < *count; ++i) b[i] = (a[i] * 7 + b[i]) % 10007;
}

static void moved(int mode, int root) {
  int counts[4], places[4], own; /* v-variants in an intercommunicator: the rank in the own group */
  MPI_Comm_rank(comm, &own);
  for (int i = 0; i < 4; ++i) {
    counts[i] = i + 1;
    places[i] = i * (i + 1) / 2;
  }
  if (mode == kBlocking) {
    MPI_Barrier(comm);
  } else if (mode == kNonBlocking) {
    MPI_Request request;
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    PERSISTENT_BARRIER;
    (void)request;
  }
  RUN(Bcast, bcast, out, 3, MPI_INT, root);
  RUN(Gather, gather, out, 2, MPI_INT, in, 2, MPI_INT, root);
  RUN(Scatter, scatter, out, 2, MPI_INT, in, 2, MPI_INT, root);
  RUN(Gatherv, gatherv, out, counts[own], MPI_INT, in, counts, places, MPI_INT, root);
  RUN(Scatterv, scatterv, out, counts, places, MPI_INT, in, counts[own], MPI_INT, root);
  RUN(Reduce, reduce, out, in, 4, MPI_INT, MPI_SUM, root);
}

static void rootless(int mode) {
  int counts[4], places[4], two[4], two_places[4], bytes[4], own;
  MPI_Datatype types[4];
  MPI_Comm_rank(comm, &own);
  for (int i = 0; i < 4; ++i) {
    counts[i] = i + 1;
    places[i] = i * (i + 1) / 2;
    two[i] = 2;
    two_places[i] = 3 * i;
    types[i] = MPI_INT;
    bytes[i] = 12 * i;
  }
  RUN(Allgather, allgather, out, 3, MPI_INT, in, 3, MPI_INT);
  RUN(Allgatherv, allgatherv, out, counts[own], MPI_INT, in, counts, places, MPI_INT);
  RUN(Alltoall, alltoall, out, 3, MPI_INT, in, 3, MPI_INT);
  RUN(Alltoallv, alltoallv, out, two, two_places, MPI_INT, in, two, two_places, MPI_INT);
  RUN(Alltoallw, alltoallw, out, two, bytes, types, in, two, bytes, types);
  RUN(Allreduce, allreduce, out, in, 5, MPI_INT, MPI_MAX);
  RUN(Reduce_scatter_block, reduce_scatter_block, out, in, 2, MPI_INT, MPI_SUM);
  RUN(Reduce_scatter, reduce_scatter, out, in, two, MPI_INT, MPI_BXOR);
}

static void intra_only(int mode) {
  static const struct {
    const char* name;
    MPI_Op op;
  } ops[] = {{"MAX", MPI_MAX},   {"MIN", MPI_MIN},   {"SUM", MPI_SUM},   {"PROD", MPI_PROD}, {"LAND", MPI_LAND},
             {"BAND", MPI_BAND}, {"LOR", MPI_LOR},   {"BOR", MPI_BOR},   {"LXOR", MPI_LXOR}, {"BXOR", MPI_BXOR}};
  MPI_Op own;
  int commutes;
  RUN(Scan, scan, out, in, 3, MPI_INT, MPI_SUM);
  RUN(Exscan, exscan, out, in, 3, MPI_INT, MPI_SUM);
  MPI_Op_create(in_order, 0, &own);
  RUN(Allreduce, allreduce, out, in, 3, MPI_INT, own);
  RUN(Reduce, reduce, out, in, 3, MPI_INT, own, size - 1);
  RUN(Scan, scan, out, in, 3, MPI_INT, own);
  MPI_Op_commutative(own, &commutes);
  say("%s own operation commutes %d", where, commutes);
  MPI_Op_free(&own);
  for (unsigned i = 0; i < sizeof ops / sizeof ops[0]; ++i) {
    RUN(Allreduce, allreduce, out, in, 2, MPI_INT, ops[i].op);
  }
  /* In place. */
  RUN(Allreduce, allreduce, MPI_IN_PLACE, out, 3, MPI_INT, MPI_SUM);
  say("%s in place %d %d", where, out[0], out[2]);
  clear();
  for (int i = 0; i < kRoom; ++i) in[i] = 10 * world_rank + i;
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, comm);
  tell("Allgather in place", mode);
  for (int i = 0; i < kRoom; ++i) in[i] = 10 * world_rank + i;
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, comm);
  tell("Alltoall in place", mode);
  for (int i = 0; i < kRoom; ++i) in[i] = 10 * world_rank + i;
  MPI_Gather(rank == 0 ? MPI_IN_PLACE : in, 2, MPI_INT, in, 2, MPI_INT, 0, comm);
  tell("Gather in place", mode);
  MPI_Scatter(in, 2, MPI_INT, rank == 0 ? MPI_IN_PLACE : in, 2, MPI_INT, 0, comm);
  tell("Scatter in place", mode);
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : in, in, 3, MPI_INT, MPI_SUM, 0, comm);
  tell("Reduce in place", mode);
  MPI_Scan(MPI_IN_PLACE, in, 3, MPI_INT, MPI_SUM, comm);
  tell("Scan in place", mode);
}

static void errors(void) {
  int class, value = 0;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Bcast(&value, 1, MPI_INT, 77, comm), &class);
  say("%s root 77: %d", where, class);
  MPI_Error_class(MPI_Reduce(&value, &value, 1, MPI_INT, MPI_OP_NULL, 0, comm), &class);
  say("%s no operation: %d", where, class);
  MPI_Error_class(MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, comm), &class);
  say("%s no type: %d", where, class);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

void collectives(void) {
  int three[3] = {1, 2, 3}, sum[3] = {10, 20, 30};
  for (int i = 0; i < kIntra; ++i) {
    where = intra[i].name;
    comm = intra[i].comm;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int mode = 0; mode < kModes; ++mode) {
      moved(mode, size - 1);
      rootless(mode);
      intra_only(mode);
    }
    errors();
  }
  for (int i = 0; i < kInter; ++i) {
    where = inter[i].name;
    comm = inter[i].comm;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_remote_size(comm, &size);
    for (int mode = 0; mode < 2; ++mode) {
      /* The even ranks have the root, their second process; then the odd ones have it. */
      for (int side = 0; side < 2; ++side)
        moved(mode, world_rank % 2 == side ? (rank == 1 ? MPI_ROOT : MPI_PROC_NULL) : 1);
      rootless(mode);
    }
  }
  MPI_Reduce_local(three, sum, 3, MPI_INT, MPI_SUM);
  say("local: %d %d %d", sum[0], sum[1], sum[2]);
}
