/* Topologies: grids, graphs, distributed graphs, made on each communicator; neighbourhood collectives on them. */
#include "conformance.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdio.h>

static void show(const char* what, int count, const int* numbers) {
  char text[256] = "";
  for (int i = 0, at = 0; i < count && at < 240; ++i)
    at += snprintf(text + at, sizeof text - (size_t)at, " %d", numbers[i]);
  say("%s:%s", what, text);
}

static const char* kind_of(MPI_Comm comm) {
  int kind;
  MPI_Topo_test(comm, &kind);
  return kind == MPI_CART ? "grid" : kind == MPI_GRAPH ? "graph" : kind == MPI_DIST_GRAPH ? "distributed graph" : "none";
}

#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
#define PERSISTENT(name, ...)                                            \
  do {                                                                   \
    MPIX_Neighbor_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request); \
    MPI_Start(&request);                                                 \
    MPI_Wait(&request, MPI_STATUS_IGNORE);                               \
    MPI_Request_free(&request);                                          \
  } while (0)
#else
#define PERSISTENT(name, ...) (void)0
#endif

#define RUN(name, ...)                                        \
  for (int mode = 0; mode < 3; ++mode) {                      \
    MPI_Request request = MPI_REQUEST_NULL;                   \
    for (int i = 0; i < kRoom; ++i) in[i] = -1;               \
    if (mode == 0) MPI_Neighbor_##name(__VA_ARGS__, comm);    \
    if (mode == 1) {                                          \
      MPI_Ineighbor_##name(__VA_ARGS__, comm, &request);      \
      MPI_Wait(&request, MPI_STATUS_IGNORE);                  \
    }                                                         \
    if (mode == 2) PERSISTENT(name, __VA_ARGS__);             \
    show(#name, sources, in);                                 \
  }

/* Every neighbourhood collective; `sources`: from how many this process hears. */
static void exchange(MPI_Comm comm, int sources) {
  enum { kRoom = 16 };
  int out[kRoom], in[kRoom], counts[kRoom], places[kRoom];
  MPI_Aint byte_places[kRoom];
  MPI_Datatype types[kRoom];
  for (int i = 0; i < kRoom; ++i) {
    out[i] = 100 * world_rank + i;
    counts[i] = 1;
    places[i] = i;
    byte_places[i] = 4 * i;
    types[i] = MPI_INT;
  }
  RUN(allgather, out, 1, MPI_INT, in, 1, MPI_INT);
  RUN(allgatherv, out, 1, MPI_INT, in, counts, places, MPI_INT);
  RUN(alltoall, out, 1, MPI_INT, in, 1, MPI_INT);
  RUN(alltoallv, out, counts, places, MPI_INT, in, counts, places, MPI_INT);
  RUN(alltoallw, out, counts, byte_places, types, in, counts, byte_places, types);
}

static void grid(const Named* parent) {
  MPI_Comm comm, row;
  int size, rank, dimensions[2] = {0, 0}, read[2], periods[2] = {1, 0}, read_periods[2], at[2], count, place, from, to;
  int keep[2] = {0, 1};
  MPI_Comm_size(parent->comm, &size);
  MPI_Dims_create(size, 2, dimensions);
  show("dimensions", 2, dimensions);
  MPI_Cart_map(parent->comm, 2, dimensions, periods, &place);
  say("grid on %s: placed at %d", parent->name, place);
  MPI_Cart_create(parent->comm, 2, dimensions, periods, 0, &comm);
  say("kinds: %s, %s", kind_of(comm), kind_of(parent->comm));
  MPI_Comm_rank(comm, &rank);
  MPI_Cartdim_get(comm, &count);
  MPI_Cart_get(comm, 2, read, read_periods, at);
  show("read", 2, read);
  show("periods", 2, read_periods);
  show("coordinates", 2, at);
  MPI_Cart_coords(comm, size - 1, 2, at);
  show("coordinates of the last", 2, at);
  at[0] = dimensions[0]; /* once around */
  at[1] = 0;
  MPI_Cart_rank(comm, at, &place);
  say("rank at 0: %d of %d dimensions", place, count);
  for (int i = 0; i < 2; ++i) {
    MPI_Cart_shift(comm, i, 1, &from, &to);
    say("shift along %d: %d to %d", i, from == MPI_PROC_NULL ? -1 : from, to == MPI_PROC_NULL ? -1 : to);
  }
  exchange(comm, 4);
  MPI_Cart_sub(comm, keep, &row);
  MPI_Comm_size(row, &size);
  say("row of %d: %s", size, kind_of(row));
  MPI_Comm_free(&row);
  MPI_Comm_free(&comm);
}

/* A ring in which each process knows both neighbours. */
static void graph(const Named* parent) {
  MPI_Comm comm;
  int size, rank, index[4], edges[8], nodes, edge_count, read_index[4], read_edges[8], count, neighbours[2], place;
  MPI_Comm_size(parent->comm, &size);
  MPI_Comm_rank(parent->comm, &rank);
  for (int i = 0; i < size; ++i) {
    index[i] = 2 * (i + 1);
    edges[2 * i] = (i + size - 1) % size;
    edges[2 * i + 1] = (i + 1) % size;
  }
  MPI_Graph_map(parent->comm, size, index, edges, &place);
  say("graph on %s: placed at %d", parent->name, place);
  MPI_Graph_create(parent->comm, size, index, edges, 0, &comm);
  say("kind: %s", kind_of(comm));
  MPI_Graphdims_get(comm, &nodes, &edge_count);
  say("nodes %d edges %d", nodes, edge_count);
  MPI_Graph_get(comm, size, 2 * size, read_index, read_edges);
  show("index", size, read_index);
  show("edges", 2 * size, read_edges);
  MPI_Graph_neighbors_count(comm, rank, &count);
  MPI_Graph_neighbors(comm, rank, count, neighbours);
  show("neighbours", count, neighbours);
  exchange(comm, count);
  MPI_Comm_free(&comm);
}

static void distributed(const Named* parent) {
  MPI_Comm comm;
  int size, rank, in_degree, out_degree, weighted, sources[4], destinations[4], weights[4], out_weights[4];
  MPI_Comm_size(parent->comm, &size);
  MPI_Comm_rank(parent->comm, &rank);
  sources[0] = (rank + size - 1) % size;
  destinations[0] = (rank + 1) % size;
  weights[0] = 3 + sources[0];
  out_weights[0] = 3 + rank;
  MPI_Dist_graph_create_adjacent(parent->comm, 1, sources, weights, 1, destinations, out_weights, MPI_INFO_NULL, 0, &comm);
  say("distributed graph on %s: %s", parent->name, kind_of(comm));
  MPI_Dist_graph_neighbors_count(comm, &in_degree, &out_degree, &weighted);
  MPI_Dist_graph_neighbors(comm, in_degree, sources, weights, out_degree, destinations, out_weights);
  say("degrees %d %d weighted %d: from %d (%d) to %d (%d)", in_degree, out_degree, weighted, sources[0], weights[0],
      destinations[0], out_weights[0]);
  exchange(comm, in_degree);
  MPI_Comm_free(&comm);
  /* The first process knows all edges: a star around it, in both directions. */
  int from[8], degrees[8], to[8], count = 0;
  for (int i = 1; i < size && rank == 0; ++i) {
    from[count] = 0;
    to[count++] = i;
    from[count] = i;
    to[count++] = 0;
  }
  for (int i = 0; i < count; ++i) degrees[i] = 1;
  MPI_Dist_graph_create(parent->comm, count, from, degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  MPI_Dist_graph_neighbors_count(comm, &in_degree, &out_degree, &weighted);
  say("star: degrees %d %d weighted %d", in_degree, out_degree, weighted);
  exchange(comm, in_degree);
  MPI_Comm_free(&comm);
}

static void errors(void) {
  MPI_Comm made = MPI_COMM_NULL;
  const int dimensions[2] = {5, 5}, periods[2] = {0, 0};
  int class, count;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions, periods, 0, &made), &class);
  say("too large a grid: %d", class);
  MPI_Error_class(MPI_Cartdim_get(MPI_COMM_WORLD, &count), &class);
  say("no grid: %d", class);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

void topologies(void) {
  for (int i = 0; i < kIntra; ++i) {
    grid(&intra[i]);
    graph(&intra[i]);
    distributed(&intra[i]);
  }
  errors();
}
