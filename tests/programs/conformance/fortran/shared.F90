! Common part of the chapters: the lines of a process, kept until the chapter ends and printed by rank 0 in the order
! of ranks, and the communicators on which the chapters do what they do. The C twin is ../conformance.c.
#include "dialect.h"

module shared
  USE_HANDLES
  implicit none
  integer, parameter :: intra_count = 7, inter_count = 3
  integer :: world_rank, world_size
  HANDLE(MPI_Comm) :: intra(intra_count), inter(inter_count)
  character(len=20), parameter :: intra_name(intra_count) = [character(len=20) :: 'world', 'duplicate', 'reversed', &
    'half', 'node', 'created', 'self']
  character(len=20), parameter :: inter_name(inter_count) = [character(len=20) :: 'inter by world', &
    'inter by duplicate', 'duplicate of inter']
  character(len=500) :: folder = '.'
  character(len=:), allocatable, private :: lines
  integer, private :: used = 0
contains
  subroutine say_text(what, text)
    character(len=*), intent(in) :: what, text
    character(len=:), allocatable :: larger
    integer :: needed
    needed = used + len(what) + len(text) + 3
    if (.not. allocated(lines)) allocate(character(len=100000) :: lines)
    if (needed > len(lines)) then
      allocate(character(len=2 * needed) :: larger)
      larger(1:used) = lines(1:used)
      call move_alloc(larger, lines)
    end if
    lines(used + 1:needed) = what // ': ' // text // new_line('a')
    used = needed
  end subroutine

  ! What, then the numbers that are there.
  subroutine say(what, a, b, c, d, e, f)
    character(len=*), intent(in) :: what
    integer, intent(in), optional :: a, b, c, d, e, f
    character(len=120) :: text
    text = ''
    if (present(a)) call append(a)
    if (present(b)) call append(b)
    if (present(c)) call append(c)
    if (present(d)) call append(d)
    if (present(e)) call append(e)
    if (present(f)) call append(f)
    call say_text(what, trim(text))
  contains
    subroutine append(number)
      integer, intent(in) :: number
      character(len=20) :: digits
      write (digits, '(i0)') number
      text = trim(text) // ' ' // digits
    end subroutine
  end subroutine

  pure integer function yes(flag)
    logical, intent(in) :: flag
    yes = merge(1, 0, flag)
  end function

  ! A name of a file of this run. The text is as long as it must be.
  function path_of(what) result(path)
    character(len=*), intent(in) :: what
    character(len=:), allocatable :: path
    path = trim(folder) // '/' // what
  end function

  subroutine print_lines(chapter)
    USE_MPI
    implicit none
    INCLUDE_MPI
    character(len=*), intent(in) :: chapter
    character(len=:), allocatable :: text
    integer :: lengths(4), places(4), i, ierror
    if (.not. allocated(lines)) allocate(character(len=100000) :: lines)
    lengths = 0
    call MPI_Gather(used, 1, MPI_INTEGER, lengths, 1, MPI_INTEGER, 0, MPI_COMM_WORLD END_OF_CALL
    places(1) = 0
    do i = 2, 4
      places(i) = places(i - 1) + lengths(i - 1)
    end do
    allocate(character(len=max(1, sum(lengths))) :: text)
    call MPI_Gatherv(lines, used, MPI_CHARACTER, text, lengths, places, MPI_CHARACTER, 0, MPI_COMM_WORLD END_OF_CALL
    if (world_rank == 0) then
      do i = 1, world_size
        print '(3a,i0)', '== ', chapter, ', rank ', i - 1
        if (lengths(i) > 0) write (*, '(a)', advance='no') text(places(i) + 1:places(i) + lengths(i))
      end do
    end if
    used = 0
  end subroutine

  subroutine make_communicators()
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_Group) :: group
    HANDLE(MPI_Comm) :: own_half
    integer :: ierror, leader
    intra(1) = MPI_COMM_WORLD
    call MPI_Comm_dup(MPI_COMM_WORLD, intra(2) END_OF_CALL
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, intra(3) END_OF_CALL
    call MPI_Comm_split(MPI_COMM_WORLD, mod(world_rank, 2), world_rank, intra(4) END_OF_CALL
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world_rank, MPI_INFO_NULL, intra(5) END_OF_CALL
    call MPI_Comm_group(MPI_COMM_WORLD, group END_OF_CALL
    call MPI_Comm_create(MPI_COMM_WORLD, group, intra(6) END_OF_CALL
    call MPI_Group_free(group END_OF_CALL
    intra(7) = MPI_COMM_SELF
    call MPI_Intercomm_create(intra(4), 0, MPI_COMM_WORLD, 1 - mod(world_rank, 2), 11, inter(1) END_OF_CALL
    call MPI_Comm_split(intra(2), mod(world_rank, 2), -world_rank, own_half END_OF_CALL
    leader = merge(3, 2, mod(world_rank, 2) == 0)
    call MPI_Intercomm_create(own_half, 0, intra(2), leader, 12, inter(2) END_OF_CALL
    call MPI_Comm_free(own_half END_OF_CALL
    call MPI_Comm_dup(inter(1), inter(3) END_OF_CALL
  end subroutine

  subroutine free_communicators()
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer :: i, ierror
    do i = 2, intra_count - 1
      call MPI_Comm_free(intra(i) END_OF_CALL
    end do
    do i = 1, inter_count
      call MPI_Comm_free(inter(i) END_OF_CALL
    end do
  end subroutine
end module
