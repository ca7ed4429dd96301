! Topologies and neighbourhood collectives; see ../topologies.c.
#include "dialect.h"

subroutine topologies()
  use shared
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: i, ierror, code, count
  HANDLE(MPI_Comm) :: made
  do i = 1, intra_count
    call grid(intra(i))
    call graph(intra(i))
    call distributed(intra(i))
  end do
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN END_OF_CALL
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [25], [.false.], .false., made, code)
  call say('too large a grid', yes(code /= MPI_SUCCESS))
  call MPI_Cartdim_get(MPI_COMM_WORLD, count, code)
  call say('no grid', yes(code /= MPI_SUCCESS))
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL END_OF_CALL
contains
  subroutine exchange(comm, sources)
    HANDLE(MPI_Comm) :: comm
    integer, intent(in) :: sources
    integer, asynchronous :: out(16), in(16)
    integer :: counts(16), places(16), k, mode, size
    integer(MPI_ADDRESS_KIND) :: byte_places(16)
    HANDLE(MPI_Datatype) :: types(16)
    HANDLE(MPI_Request) :: request
    call MPI_Comm_size(comm, size END_OF_CALL
    out = [(100 * world_rank + k, k=1, 16)]
    counts = 1
    places = [(k, k=0, 15)]
    byte_places = 4 * places
    types = MPI_INTEGER
    do mode = 0, 1
      request = MPI_REQUEST_NULL
      in = -1
      if (mode == 0) call MPI_Neighbor_allgather(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, comm END_OF_CALL
      if (mode == 1) call MPI_Ineighbor_allgather(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, comm, request END_OF_CALL
      call MPI_Wait(request, MPI_STATUS_IGNORE END_OF_CALL
      call say('allgather', mode, sum(in(1:sources)))
      in = -1
      if (mode == 0) call MPI_Neighbor_allgatherv(out, 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, &
        comm END_OF_CALL
      if (mode == 1) call MPI_Ineighbor_allgatherv(out, 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, comm, &
        request END_OF_CALL
      call MPI_Wait(request, MPI_STATUS_IGNORE END_OF_CALL
      call say('allgatherv', mode, sum(in(1:sources)))
      in = -1
      if (mode == 0) call MPI_Neighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, comm END_OF_CALL
      if (mode == 1) call MPI_Ineighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, comm, request END_OF_CALL
      call MPI_Wait(request, MPI_STATUS_IGNORE END_OF_CALL
      call say('alltoall', mode, sum(in(1:sources)), in(1))
      in = -1
      if (mode == 0) call MPI_Neighbor_alltoallv(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, &
        comm END_OF_CALL
      if (mode == 1) call MPI_Ineighbor_alltoallv(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, &
        comm, request END_OF_CALL
      call MPI_Wait(request, MPI_STATUS_IGNORE END_OF_CALL
      call say('alltoallv', mode, sum(in(1:sources)), in(1))
      if (sources > size) cycle ! Open MPI 4.1 reads only as many types as there are processes
      in = -1
      if (mode == 0) call MPI_Neighbor_alltoallw(out, counts, byte_places, types, in, counts, byte_places, types, &
        comm END_OF_CALL
      if (mode == 1) call MPI_Ineighbor_alltoallw(out, counts, byte_places, types, in, counts, byte_places, types, &
        comm, request END_OF_CALL
      call MPI_Wait(request, MPI_STATUS_IGNORE END_OF_CALL
      call say('alltoallw', mode, sum(in(1:sources)), in(1))
    end do
  end subroutine

  subroutine grid(parent)
    HANDLE(MPI_Comm) :: parent, comm, row
    integer :: size, rank, dimensions(2), at(2), read(2), place, from, to, k, kind
    logical :: periods(2), read_periods(2), keep(2)
    call MPI_Comm_size(parent, size END_OF_CALL
    dimensions = 0
    call MPI_Dims_create(size, 2, dimensions END_OF_CALL
    periods = [.true., .false.]
    call MPI_Cart_map(parent, 2, dimensions, periods, place END_OF_CALL
    call MPI_Cart_create(parent, 2, dimensions, periods, .false., comm END_OF_CALL
    call MPI_Topo_test(comm, kind END_OF_CALL
    call MPI_Comm_rank(comm, rank END_OF_CALL
    call MPI_Cartdim_get(comm, count END_OF_CALL
    call say('grid on ' // trim(intra_name(i)), place, yes(kind == MPI_CART), rank, count, dimensions(1), dimensions(2))
    call MPI_Cart_get(comm, 2, read, read_periods, at END_OF_CALL
    call say('read', read(1), read(2), yes(read_periods(1)), yes(read_periods(2)), at(1), at(2))
    call MPI_Cart_coords(comm, size - 1, 2, at END_OF_CALL
    call say('the last', at(1), at(2))
    at = [dimensions(1), 0]
    call MPI_Cart_rank(comm, at, place END_OF_CALL
    call say('once around', place)
    do k = 0, 1
      call MPI_Cart_shift(comm, k, 1, from, to END_OF_CALL
      call say('shift', k, from, to)
    end do
    call exchange(comm, 4)
    keep = [.false., .true.]
    call MPI_Cart_sub(comm, keep, row END_OF_CALL
    call MPI_Comm_size(row, size END_OF_CALL
    call say('row', size)
    call MPI_Comm_free(row END_OF_CALL
    call MPI_Comm_free(comm END_OF_CALL
  end subroutine

  subroutine graph(parent)
    HANDLE(MPI_Comm) :: parent, comm
    integer :: size, rank, index(4), edges(8), read_index(4), read_edges(8), neighbours(2), nodes, edge_count, k, place
    call MPI_Comm_size(parent, size END_OF_CALL
    call MPI_Comm_rank(parent, rank END_OF_CALL
    do k = 1, size
      index(k) = 2 * k
      edges(2 * k - 1) = mod(k + size - 2, size)
      edges(2 * k) = mod(k, size)
    end do
    call MPI_Graph_map(parent, size, index, edges, place END_OF_CALL
    call MPI_Graph_create(parent, size, index, edges, .false., comm END_OF_CALL
    call MPI_Graphdims_get(comm, nodes, edge_count END_OF_CALL
    call MPI_Graph_get(comm, size, 2 * size, read_index, read_edges END_OF_CALL
    call say('graph', place, nodes, edge_count, read_index(size), sum(read_edges(1:2 * size)))
    call MPI_Graph_neighbors_count(comm, rank, count END_OF_CALL
    call MPI_Graph_neighbors(comm, rank, count, neighbours END_OF_CALL
    call say('neighbours', count, neighbours(1), neighbours(2))
    call exchange(comm, count)
    call MPI_Comm_free(comm END_OF_CALL
  end subroutine

  subroutine distributed(parent)
    HANDLE(MPI_Comm) :: parent, comm
    integer :: size, rank, in_degree, out_degree, sources(4), destinations(4), weights(4), out_weights(4)
    integer :: from(8), degrees(8), to(8), edge_count, k
    logical :: weighted
    call MPI_Comm_size(parent, size END_OF_CALL
    call MPI_Comm_rank(parent, rank END_OF_CALL
    sources(1) = mod(rank + size - 1, size)
    destinations(1) = mod(rank + 1, size)
    weights(1) = 3 + sources(1)
    out_weights(1) = 3 + rank
    call MPI_Dist_graph_create_adjacent(parent, 1, sources, weights, 1, destinations, out_weights, MPI_INFO_NULL, &
      .false., comm END_OF_CALL
    call MPI_Dist_graph_neighbors_count(comm, in_degree, out_degree, weighted END_OF_CALL
    call MPI_Dist_graph_neighbors(comm, in_degree, sources, weights, out_degree, destinations, out_weights END_OF_CALL
    call say('distributed', in_degree, out_degree, yes(weighted), sources(1), weights(1), destinations(1))
    call exchange(comm, in_degree)
    call MPI_Comm_free(comm END_OF_CALL
    edge_count = 0
    if (rank == 0) then
      do k = 1, size - 1
        from(edge_count + 1:edge_count + 2) = [0, k]
        to(edge_count + 1:edge_count + 2) = [k, 0]
        edge_count = edge_count + 2
      end do
    end if
    degrees = 1
    call MPI_Dist_graph_create(parent, edge_count, from, degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., &
      comm END_OF_CALL
    call MPI_Dist_graph_neighbors_count(comm, in_degree, out_degree, weighted END_OF_CALL
    call say('star', in_degree, out_degree, yes(weighted))
    call exchange(comm, in_degree)
    call MPI_Comm_free(comm END_OF_CALL
  end subroutine
end subroutine
