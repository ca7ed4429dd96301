! Collective communication; see ../collectives.c. Each operation blocking and non-blocking.
#include "dialect.h"

module in_order_of_ranks
contains
  ! Not commutative: the result shows the order of ranks.
#if defined(DIALECT_F08)
  subroutine in_order(left, right, count, type)
    use mpi_f08
    use iso_c_binding
    type(c_ptr), value :: left, right
    integer :: count
    type(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)
    call c_f_pointer(left, a, [count])
    call c_f_pointer(right, b, [count])
    b = mod(a * 7 + b, 10007)
  end subroutine
#else
  subroutine in_order(a, b, count, type)
    integer :: count, type
    integer :: a(count), b(count)
    b = mod(a * 7 + b, 10007)
  end subroutine
#endif
end module

subroutine collectives()
  use shared
  use in_order_of_ranks
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, parameter :: n = 16
  integer :: i, mode, rank, size, own, root, side, ierror, counts(4), places(4), two(4), two_places(4), bytes(4)
  integer, asynchronous :: out(n), in(n)
  character(len=:), allocatable :: name
  logical :: commutes
  HANDLE(MPI_Comm) :: comm
  HANDLE(MPI_Request) :: request
  HANDLE(MPI_Datatype) :: types(4)
  HANDLE(MPI_Op) :: own_operation
  counts = [1, 2, 3, 4]
  places = [0, 1, 3, 6]
  two = 2
  two_places = [0, 3, 6, 9]
  bytes = 4 * two_places
  types = MPI_INTEGER
  do i = 1, intra_count
    comm = intra(i)
    name = trim(intra_name(i))
    call MPI_Comm_rank(comm, rank END_OF_CALL
    call MPI_Comm_size(comm, size END_OF_CALL
    own = rank
    do mode = 0, 1
      root = size - 1
      call with_root()
      call rootless()
      call intra_only()
    end do
  end do
  do i = 1, inter_count
    comm = inter(i)
    name = trim(inter_name(i))
    call MPI_Comm_rank(comm, own END_OF_CALL
    call MPI_Comm_remote_size(comm, size END_OF_CALL
    do mode = 0, 1
      do side = 0, 1
        root = 1
        if (mod(world_rank, 2) == side) root = merge(MPI_ROOT, MPI_PROC_NULL, own == 1)
        call with_root()
      end do
      call rootless()
    end do
  end do
contains
  subroutine clear()
    integer :: k
    in = -1
    out = [(100 * world_rank + k, k=1, n)]
    request = MPI_REQUEST_NULL
  end subroutine

  subroutine tell(what)
    character(len=*), intent(in) :: what
    call MPI_Wait(request, MPI_STATUS_IGNORE END_OF_CALL
    call say(name // ' ' // what, mode, in(1), in(2), in(4), in(9), sum(in))
    call say(name, out(1), out(2), sum(out))
  end subroutine

  subroutine with_root()
    call clear()
    if (mode == 0) call MPI_Barrier(comm END_OF_CALL
    if (mode == 1) call MPI_Ibarrier(comm, request END_OF_CALL
    call tell('Barrier')
    call clear()
    if (mode == 0) call MPI_Bcast(out, 3, MPI_INTEGER, root, comm END_OF_CALL
    if (mode == 1) call MPI_Ibcast(out, 3, MPI_INTEGER, root, comm, request END_OF_CALL
    call tell('Bcast')
    call clear()
    if (mode == 0) call MPI_Gather(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, root, comm END_OF_CALL
    if (mode == 1) call MPI_Igather(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, root, comm, request END_OF_CALL
    call tell('Gather')
    call clear()
    if (mode == 0) call MPI_Scatter(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, root, comm END_OF_CALL
    if (mode == 1) call MPI_Iscatter(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, root, comm, request END_OF_CALL
    call tell('Scatter')
    call clear()
    if (mode == 0) call MPI_Gatherv(out, counts(own + 1), MPI_INTEGER, in, counts, places, MPI_INTEGER, root, &
      comm END_OF_CALL
    if (mode == 1) call MPI_Igatherv(out, counts(own + 1), MPI_INTEGER, in, counts, places, MPI_INTEGER, root, comm, &
      request END_OF_CALL
    call tell('Gatherv')
    call clear()
    if (mode == 0) call MPI_Scatterv(out, counts, places, MPI_INTEGER, in, counts(own + 1), MPI_INTEGER, root, &
      comm END_OF_CALL
    if (mode == 1) call MPI_Iscatterv(out, counts, places, MPI_INTEGER, in, counts(own + 1), MPI_INTEGER, root, comm, &
      request END_OF_CALL
    call tell('Scatterv')
    call clear()
    if (mode == 0) call MPI_Reduce(out, in, 4, MPI_INTEGER, MPI_SUM, root, comm END_OF_CALL
    if (mode == 1) call MPI_Ireduce(out, in, 4, MPI_INTEGER, MPI_SUM, root, comm, request END_OF_CALL
    call tell('Reduce')
  end subroutine

  subroutine rootless()
    call clear()
    if (mode == 0) call MPI_Allgather(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, comm END_OF_CALL
    if (mode == 1) call MPI_Iallgather(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, comm, request END_OF_CALL
    call tell('Allgather')
    call clear()
    if (mode == 0) call MPI_Allgatherv(out, counts(own + 1), MPI_INTEGER, in, counts, places, MPI_INTEGER, &
      comm END_OF_CALL
    if (mode == 1) call MPI_Iallgatherv(out, counts(own + 1), MPI_INTEGER, in, counts, places, MPI_INTEGER, comm, &
      request END_OF_CALL
    call tell('Allgatherv')
    call clear()
    if (mode == 0) call MPI_Alltoall(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, comm END_OF_CALL
    if (mode == 1) call MPI_Ialltoall(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, comm, request END_OF_CALL
    call tell('Alltoall')
    call clear()
    if (mode == 0) call MPI_Alltoallv(out, two, two_places, MPI_INTEGER, in, two, two_places, MPI_INTEGER, &
      comm END_OF_CALL
    if (mode == 1) call MPI_Ialltoallv(out, two, two_places, MPI_INTEGER, in, two, two_places, MPI_INTEGER, comm, &
      request END_OF_CALL
    call tell('Alltoallv')
    call clear()
    if (mode == 0) call MPI_Alltoallw(out, two, bytes, types, in, two, bytes, types, comm END_OF_CALL
    if (mode == 1) call MPI_Ialltoallw(out, two, bytes, types, in, two, bytes, types, comm, request END_OF_CALL
    call tell('Alltoallw')
    call clear()
    if (mode == 0) call MPI_Allreduce(out, in, 5, MPI_INTEGER, MPI_MAX, comm END_OF_CALL
    if (mode == 1) call MPI_Iallreduce(out, in, 5, MPI_INTEGER, MPI_MAX, comm, request END_OF_CALL
    call tell('Allreduce')
    call clear()
    if (mode == 0) call MPI_Reduce_scatter_block(out, in, 2, MPI_INTEGER, MPI_SUM, comm END_OF_CALL
    if (mode == 1) call MPI_Ireduce_scatter_block(out, in, 2, MPI_INTEGER, MPI_SUM, comm, request END_OF_CALL
    call tell('Reduce_scatter_block')
    call clear()
    if (mode == 0) call MPI_Reduce_scatter(out, in, two, MPI_INTEGER, MPI_BXOR, comm END_OF_CALL
    if (mode == 1) call MPI_Ireduce_scatter(out, in, two, MPI_INTEGER, MPI_BXOR, comm, request END_OF_CALL
    call tell('Reduce_scatter')
  end subroutine

  subroutine intra_only()
    call clear()
    if (mode == 0) call MPI_Scan(out, in, 3, MPI_INTEGER, MPI_SUM, comm END_OF_CALL
    if (mode == 1) call MPI_Iscan(out, in, 3, MPI_INTEGER, MPI_SUM, comm, request END_OF_CALL
    call tell('Scan')
    call clear()
    if (mode == 0) call MPI_Exscan(out, in, 3, MPI_INTEGER, MPI_SUM, comm END_OF_CALL
    if (mode == 1) call MPI_Iexscan(out, in, 3, MPI_INTEGER, MPI_SUM, comm, request END_OF_CALL
    call tell('Exscan')
    call MPI_Op_create(in_order, .false., own_operation END_OF_CALL
    call MPI_Op_commutative(own_operation, commutes END_OF_CALL
    call clear()
    if (mode == 0) call MPI_Allreduce(out, in, 3, MPI_INTEGER, own_operation, comm END_OF_CALL
    if (mode == 1) call MPI_Iallreduce(out, in, 3, MPI_INTEGER, own_operation, comm, request END_OF_CALL
    call tell('in order')
    call MPI_Op_free(own_operation END_OF_CALL
    call say('commutes', yes(commutes))
    call clear()
    if (mode == 0) call MPI_Allreduce(MPI_IN_PLACE, out, 3, MPI_INTEGER, MPI_SUM, comm END_OF_CALL
    if (mode == 1) call MPI_Iallreduce(MPI_IN_PLACE, out, 3, MPI_INTEGER, MPI_SUM, comm, request END_OF_CALL
    call tell('Allreduce in place')
    call clear()
    if (mode == 0) call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, out, 2, MPI_INTEGER, comm END_OF_CALL
    if (mode == 1) call MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INTEGER, out, 2, MPI_INTEGER, comm, request END_OF_CALL
    call tell('Alltoall in place')
    call clear()
    if (rank == 0) then
      if (mode == 0) call MPI_Gather(MPI_IN_PLACE, 2, MPI_INTEGER, out, 2, MPI_INTEGER, 0, comm END_OF_CALL
      if (mode == 1) call MPI_Igather(MPI_IN_PLACE, 2, MPI_INTEGER, out, 2, MPI_INTEGER, 0, comm, request END_OF_CALL
    else
      if (mode == 0) call MPI_Gather(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, 0, comm END_OF_CALL
      if (mode == 1) call MPI_Igather(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, 0, comm, request END_OF_CALL
    end if
    call tell('Gather in place')
  end subroutine
end subroutine
