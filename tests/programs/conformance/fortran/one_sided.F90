! One-sided communication; see ../one_sided.c.
#include "dialect.h"

subroutine one_sided()
  use shared
  use iso_c_binding
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, parameter :: n = 16
  integer :: i, ierror, rank, size, next, previous, turn, turns
  integer, asynchronous :: cells(0:n - 1), out(4), in(4)
  HANDLE(MPI_Win) :: window
  HANDLE(MPI_Comm) :: comm
  ! Halves and single processes one after the other: Open MPI 4 names the files of their windows alike.
  do i = 1, intra_count
    turns = 1
    if (i == 4) turns = 2
    if (i == 7) turns = 4
    do turn = 0, turns - 1
      if (mod(world_rank, turns) == turn) then
        comm = intra(i)
        call MPI_Comm_rank(comm, rank END_OF_CALL
        call MPI_Comm_size(comm, size END_OF_CALL
        next = mod(rank + 1, size)
        previous = mod(rank + size - 1, size)
        call say_text('on', trim(intra_name(i)))
        if (size > 1) call created()
        call allocated_one(.false.)
        call allocated_one(.true.)
        if (size > 1) call dynamic()
      end if
      call MPI_Barrier(MPI_COMM_WORLD END_OF_CALL
    end do
  end do
contains
  subroutine reset(memory)
    integer, intent(out) :: memory(0:n - 1)
    integer :: k
    memory = [(10 * rank + k, k=0, n - 1)]
  end subroutine

  subroutine show(what, memory)
    character(len=*), intent(in) :: what
    integer, intent(in) :: memory(0:n - 1)
    call say(what, memory(0), memory(1), memory(2), memory(3), memory(4), memory(5))
  end subroutine

  subroutine operations(base, unit)
    integer(MPI_ADDRESS_KIND), intent(in) :: base, unit
    HANDLE(MPI_Request) :: request
    integer, asynchronous :: compare
    out = [1000, 2000, 3000, 4000] + rank
    in = -1
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window END_OF_CALL
    call MPI_Put(out, 1, MPI_INTEGER, next, base, 1, MPI_INTEGER, window END_OF_CALL
    call MPI_Win_flush(next, window END_OF_CALL
    call MPI_Get(in, 2, MPI_INTEGER, next, base, 2, MPI_INTEGER, window END_OF_CALL
    call MPI_Win_flush_local(next, window END_OF_CALL
    call MPI_Win_unlock(next, window END_OF_CALL
    call say('got', in(1), in(2))
    call MPI_Win_lock_all(0, window END_OF_CALL
    call MPI_Accumulate(out, 1, MPI_INTEGER, next, base + unit, 1, MPI_INTEGER, MPI_SUM, window END_OF_CALL
    call MPI_Win_flush_all(window END_OF_CALL
    call MPI_Get_accumulate(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, next, base + 2 * unit, 1, MPI_INTEGER, &
      MPI_REPLACE, window END_OF_CALL
    call MPI_Fetch_and_op(out(2), in(2), MPI_INTEGER, next, base + 3 * unit, MPI_SUM, window END_OF_CALL
    call MPI_Win_flush_local_all(window END_OF_CALL
    compare = 10 * next + 4
    call MPI_Compare_and_swap(out(3), compare, in(3), MPI_INTEGER, next, base + 4 * unit, window END_OF_CALL
    call MPI_Win_flush(next, window END_OF_CALL
    call MPI_Win_unlock_all(window END_OF_CALL
    call say('fetched', in(1), in(2), in(3))
    call MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window END_OF_CALL
    call MPI_Rput(out, 1, MPI_INTEGER, next, base + 5 * unit, 1, MPI_INTEGER, window, request END_OF_CALL
    call MPI_Wait(request, MPI_STATUS_IGNORE END_OF_CALL
    call MPI_Win_flush(next, window END_OF_CALL
    call MPI_Rget(in, 1, MPI_INTEGER, next, base + 5 * unit, 1, MPI_INTEGER, window, request END_OF_CALL
    call MPI_Wait(request, MPI_STATUS_IGNORE END_OF_CALL
    call MPI_Raccumulate(out, 1, MPI_INTEGER, next, base + unit, 1, MPI_INTEGER, MPI_MAX, window, request END_OF_CALL
    call MPI_Wait(request, MPI_STATUS_IGNORE END_OF_CALL
    call MPI_Win_flush(next, window END_OF_CALL
    call MPI_Rget_accumulate(out, 1, MPI_INTEGER, in(2), 1, MPI_INTEGER, next, base + unit, 1, MPI_INTEGER, MPI_NO_OP, &
      window, request END_OF_CALL
    call MPI_Wait(request, MPI_STATUS_IGNORE END_OF_CALL
    call MPI_Win_unlock(next, window END_OF_CALL
    call say('by requests', in(1), in(2))
  end subroutine

  subroutine created()
    integer(MPI_ADDRESS_KIND) :: bytes
    HANDLE(MPI_Group) :: group, from, to, of_window
    integer :: relation, length, round, ranks(1)
    logical :: done
    character(len=MPI_MAX_OBJECT_NAME) :: name
    call reset(cells)
    bytes = 4 * n
    call MPI_Win_create(cells, bytes, 4, MPI_INFO_NULL, comm, window END_OF_CALL
    call MPI_Win_set_name(window, 'halo cells' END_OF_CALL
    call MPI_Win_get_name(window, name, length END_OF_CALL
    call MPI_Comm_group(comm, group END_OF_CALL
    call MPI_Win_get_group(window, of_window END_OF_CALL
    call MPI_Group_compare(group, of_window, relation END_OF_CALL
#if defined(DIALECT_F08)
    name = 'halo cells' ! Open MPI 4.1 leaves it undefined
#endif
    call say(trim(name), yes(relation == MPI_IDENT))
    call MPI_Barrier(comm END_OF_CALL
    call operations(0_MPI_ADDRESS_KIND, 1_MPI_ADDRESS_KIND)
    call MPI_Barrier(comm END_OF_CALL
    out = 7000 + rank
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, window END_OF_CALL
    call MPI_Put(out, 1, MPI_INTEGER, next, 6_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window END_OF_CALL
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, window END_OF_CALL
    ranks = previous
    call MPI_Group_incl(group, 1, ranks, from END_OF_CALL
    ranks = next
    call MPI_Group_incl(group, 1, ranks, to END_OF_CALL
    do round = 1, 2
      call MPI_Win_post(from, 0, window END_OF_CALL
      call MPI_Win_start(to, 0, window END_OF_CALL
      call MPI_Put(out, 1, MPI_INTEGER, next, 7_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window END_OF_CALL
      call MPI_Win_complete(window END_OF_CALL
      done = .false.
      if (round == 1) call MPI_Win_wait(window END_OF_CALL
      do while (round == 2 .and. .not. done)
        call MPI_Win_test(window, done END_OF_CALL
      end do
    end do
    call MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window END_OF_CALL
    call show('created', cells)
    call say('more', cells(6), cells(7))
    call MPI_Win_unlock(rank, window END_OF_CALL
    call MPI_Group_free(from END_OF_CALL
    call MPI_Group_free(to END_OF_CALL
    call MPI_Group_free(group END_OF_CALL
    call MPI_Group_free(of_window END_OF_CALL
    call MPI_Win_free(window END_OF_CALL
    call say('freed', yes(window == MPI_WIN_NULL))
  end subroutine

  subroutine allocated_one(is_shared)
    logical, intent(in) :: is_shared
    integer(MPI_ADDRESS_KIND) :: bytes
    integer :: unit
    integer, pointer :: memory(:)
    type(c_ptr) :: address
#if defined(DIALECT_MPIF)
    integer(MPI_ADDRESS_KIND) :: base
#else
    type(c_ptr) :: base
#endif
    bytes = 4 * n
    if (is_shared) then
      call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, comm, base, window END_OF_CALL
    else
      call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, comm, base, window END_OF_CALL
    end if
    address = transfer(base, address)
    call c_f_pointer(address, memory, [n])
    call MPI_Win_lock_all(0, window END_OF_CALL
    call reset(memory)
    call MPI_Win_sync(window END_OF_CALL
    call MPI_Barrier(comm END_OF_CALL
    if (is_shared) then
      call MPI_Win_shared_query(window, next, bytes, unit, base END_OF_CALL
      address = transfer(base, address)
      call c_f_pointer(address, memory, [n])
      call say('beside', int(bytes), unit, memory(4))
    end if
    call MPI_Win_unlock_all(window END_OF_CALL
    call MPI_Barrier(comm END_OF_CALL
    if (.not. is_shared) call operations(0_MPI_ADDRESS_KIND, 1_MPI_ADDRESS_KIND)
    call MPI_Barrier(comm END_OF_CALL
    call MPI_Win_lock_all(0, window END_OF_CALL
    call show('allocated', memory)
    call MPI_Win_unlock_all(window END_OF_CALL
    call MPI_Win_free(window END_OF_CALL
  end subroutine

  subroutine dynamic()
    integer(MPI_ADDRESS_KIND) :: bytes, address, addresses(4)
    call reset(cells)
    call MPI_Win_create_dynamic(MPI_INFO_NULL, comm, window END_OF_CALL
    bytes = 4 * n
    call MPI_Win_attach(window, cells, bytes END_OF_CALL
    call MPI_Get_address(cells, address END_OF_CALL
    call MPI_Allgather(address, 1, MPI_AINT, addresses, 1, MPI_AINT, comm END_OF_CALL
    call operations(addresses(next + 1), 4_MPI_ADDRESS_KIND)
    call MPI_Barrier(comm END_OF_CALL
    call show('attached', cells)
    call MPI_Win_detach(window, cells END_OF_CALL
    call MPI_Win_free(window END_OF_CALL
  end subroutine
end subroutine
