! Groups and communicators; see ../communicators.c.
#include "dialect.h"

subroutine communicators()
  use shared
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: i, j, ierror, relation, length, code
  character(len=MPI_MAX_OBJECT_NAME) :: text
  HANDLE(MPI_Comm) :: handle, parent
  call groups()
  call MPI_Comm_get_parent(parent END_OF_CALL
  call say('no parent', yes(parent == MPI_COMM_NULL))
  do i = 1, intra_count
    call describe(trim(intra_name(i)), intra(i))
    do j = 1, intra_count
      call MPI_Comm_compare(intra(i), intra(j), relation END_OF_CALL
      call say(trim(intra_name(i)) // ' and ' // trim(intra_name(j)), yes(relation == MPI_IDENT), &
        yes(relation == MPI_CONGRUENT), yes(relation == MPI_SIMILAR))
    end do
    call made_of(trim(intra_name(i)), intra(i), .false.)
  end do
  do i = 1, inter_count
    call describe(trim(inter_name(i)), inter(i))
    do j = 1, inter_count
      call MPI_Comm_compare(inter(i), inter(j), relation END_OF_CALL
      call say(trim(inter_name(i)) // ' and ' // trim(inter_name(j)), yes(relation == MPI_IDENT), &
        yes(relation == MPI_CONGRUENT), yes(relation == MPI_SIMILAR))
    end do
    call made_of(trim(inter_name(i)), inter(i), .true.)
  end do
  call MPI_Comm_get_name(MPI_COMM_WORLD, text, length END_OF_CALL
  call say_text('world', trim(text))
  call MPI_Comm_get_name(MPI_COMM_SELF, text, length END_OF_CALL
  call say_text('self', trim(text))
  do i = 2, intra_count - 1
    call MPI_Comm_set_name(intra(i), trim(intra_name(i)) END_OF_CALL
    call MPI_Comm_get_name(intra(i), text, length END_OF_CALL
    call say_text('named', text(1:length) // '.')
  end do
  call MPI_Comm_set_name(MPI_COMM_WORLD, 'all of us' END_OF_CALL
  call MPI_Comm_get_name(MPI_COMM_WORLD, text, length END_OF_CALL
  call say_text('world', trim(text))
  call MPI_Comm_set_name(MPI_COMM_WORLD, 'MPI_COMM_WORLD' END_OF_CALL
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN END_OF_CALL
  handle = MPI_COMM_WORLD
  call MPI_Comm_free(handle, code)
  call say('free of world fails, handle kept', yes(code /= MPI_SUCCESS), yes(handle == MPI_COMM_WORLD))
  call MPI_Comm_disconnect(handle, code)
  call say('disconnect of world fails, handle kept', yes(code /= MPI_SUCCESS), yes(handle == MPI_COMM_WORLD))
  call MPI_Comm_remote_size(MPI_COMM_WORLD, i, code)
  call say('remote size of world fails', yes(code /= MPI_SUCCESS))
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL END_OF_CALL
contains
  subroutine groups()
    HANDLE(MPI_Group) :: world, even, odd, result
    integer :: evens(2), range(3, 1), size, rank, ranks(4), translated(4)
    evens = [0, 2]
    ranks = [2, 0, 1, 3]
    call MPI_Comm_group(MPI_COMM_WORLD, world END_OF_CALL
    call MPI_Group_incl(world, 2, evens, even END_OF_CALL
    call MPI_Group_excl(world, 2, evens, odd END_OF_CALL
    call MPI_Group_union(even, odd, result END_OF_CALL
    call MPI_Group_size(result, size END_OF_CALL
    call MPI_Group_rank(result, rank END_OF_CALL
    call say('union', size, rank)
    call MPI_Group_free(result END_OF_CALL
    call MPI_Group_intersection(world, odd, result END_OF_CALL
    call MPI_Group_compare(result, odd, relation END_OF_CALL
    call say('intersection', yes(relation == MPI_IDENT))
    call MPI_Group_free(result END_OF_CALL
    call MPI_Group_difference(world, odd, result END_OF_CALL
    call MPI_Group_compare(result, even, relation END_OF_CALL
    call say('difference', yes(relation == MPI_IDENT))
    call MPI_Group_free(result END_OF_CALL
    range(:, 1) = [3, 0, -1]
    call MPI_Group_range_incl(world, 1, range, result END_OF_CALL
    call MPI_Group_translate_ranks(world, 4, ranks, result, translated END_OF_CALL
    call say('backwards', translated(1), translated(2), translated(3), translated(4))
    call MPI_Group_free(result END_OF_CALL
    range(:, 1) = [0, 2, 2]
    call MPI_Group_range_excl(world, 1, range, result END_OF_CALL
    call MPI_Group_compare(result, odd, relation END_OF_CALL
    call say('without even ones', yes(relation == MPI_IDENT))
    call MPI_Group_free(result END_OF_CALL
    call MPI_Group_free(even END_OF_CALL
    call MPI_Group_free(odd END_OF_CALL
    call MPI_Group_free(world END_OF_CALL
  end subroutine

  subroutine describe(name, comm)
    character(len=*), intent(in) :: name
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Group) :: world, group
    integer :: rank, size, translated(1), first(1)
    logical :: is_inter
    if (comm == MPI_COMM_NULL) then
      call say(name // ' null')
      return
    end if
    call MPI_Comm_rank(comm, rank END_OF_CALL
    call MPI_Comm_size(comm, size END_OF_CALL
    call MPI_Comm_test_inter(comm, is_inter END_OF_CALL
    call say(name, rank, size, yes(is_inter), yes(comm == MPI_COMM_WORLD))
    call MPI_Comm_group(MPI_COMM_WORLD, world END_OF_CALL
    call MPI_Comm_group(comm, group END_OF_CALL
    first = 0
    call MPI_Group_translate_ranks(group, 1, first, world, translated END_OF_CALL
    call say('its first', translated(1))
    call MPI_Group_free(group END_OF_CALL
    if (is_inter) then
      call MPI_Comm_remote_size(comm, size END_OF_CALL
      call MPI_Comm_remote_group(comm, group END_OF_CALL
      call MPI_Group_translate_ranks(group, 1, first, world, translated END_OF_CALL
      call say('remote', size, translated(1))
      call MPI_Group_free(group END_OF_CALL
    end if
    call MPI_Group_free(world END_OF_CALL
  end subroutine

  subroutine made_of(name, comm, is_inter)
    character(len=*), intent(in) :: name
    logical, intent(in) :: is_inter
    HANDLE(MPI_Comm) :: comm, made
    HANDLE(MPI_Group) :: group, part
    HANDLE(MPI_Request) :: request
    integer :: rank, size, range(3, 1), total
    call MPI_Comm_rank(comm, rank END_OF_CALL
    call MPI_Comm_size(comm, size END_OF_CALL
    call MPI_Comm_dup(comm, made END_OF_CALL
    call describe(name // ' dup', made)
    call MPI_Comm_free(made END_OF_CALL
    call say('freed', yes(made == MPI_COMM_NULL))
    call MPI_Comm_idup(comm, made, request END_OF_CALL
    call MPI_Wait(request, MPI_STATUS_IGNORE END_OF_CALL
    call describe(name // ' idup', made)
    call MPI_Comm_free(made END_OF_CALL
    call MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, made END_OF_CALL
    call describe(name // ' dup_with_info', made)
    call MPI_Comm_disconnect(made END_OF_CALL
    call MPI_Comm_group(comm, group END_OF_CALL
    range(:, 1) = [0, size - 1, 2]
    call MPI_Group_range_incl(group, 1, range, part END_OF_CALL
    call MPI_Comm_create(comm, part, made END_OF_CALL
    call describe(name // ' create', made)
    if (.not. (made == MPI_COMM_NULL)) call MPI_Comm_free(made END_OF_CALL
    call MPI_Comm_split(comm, merge(0, 1, rank == 0), -rank, made END_OF_CALL
    call describe(name // ' split', made)
    if (.not. (made == MPI_COMM_NULL)) call MPI_Comm_free(made END_OF_CALL
    if (is_inter) then
      call MPI_Intercomm_merge(comm, mod(world_rank, 2) == 1, made END_OF_CALL
      call describe(name // ' merge', made)
    else
      if (mod(rank, 2) == 0) then
        call MPI_Comm_create_group(comm, part, 4, made END_OF_CALL
        call describe(name // ' create_group', made)
        call MPI_Comm_free(made END_OF_CALL
      end if
      call MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, made END_OF_CALL
      call describe(name // ' split_type', made)
    end if
    call MPI_Allreduce(world_rank, total, 1, MPI_INTEGER, MPI_SUM, made END_OF_CALL
    call say('sum', total)
    call MPI_Comm_free(made END_OF_CALL
    call MPI_Group_free(part END_OF_CALL
    call MPI_Group_free(group END_OF_CALL
  end subroutine
end subroutine
