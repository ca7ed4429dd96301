! A Fortran program's view of its world: attributes, callbacks, error handlers, names. DIALECT_MPIF, DIALECT_MPI or
! DIALECT_F08 chooses the dialect. Prints what rank 0 sees; a virtual world must not change it.
#if defined(DIALECT_F08)
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#define HANDLE(name) type(name)
#define NUMBER(handle) handle%MPI_VAL
#elif defined(DIALECT_MPI)
#define USE_MPI use mpi
#define INCLUDE_MPI
#define HANDLE(name) integer
#define NUMBER(handle) handle
#else
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#define HANDLE(name) integer
#define NUMBER(handle) handle
#endif

module callbacks
  integer :: rank, size_of_world, deletions = 0
contains
  subroutine say(what, value)
    character(len=*), intent(in) :: what
    integer(8), intent(in) :: value
    if (rank == 0) print '(a,1x,i0)', what, value
  end subroutine

  subroutine copy_attribute(comm, key, extra, in, out, flag, ierror)
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_Comm) :: comm
    integer :: key, ierror
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    call say('copy of world', merge(1_8, 0_8, comm == MPI_COMM_WORLD) + 10 * extra)
    out = in
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_attribute(comm, key, value, extra, ierror)
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_Comm) :: comm
    integer :: key, ierror, my_rank
    integer(MPI_ADDRESS_KIND) :: value, extra
    call MPI_Comm_rank(MPI_COMM_WORLD, my_rank, ierror)
    ! Open MPI 4.1 hands an undefined integer over as comm here, so it is not looked at.
    call say('deleted', 10 * value + merge(100_8, 0_8, my_rank == rank))
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine on_error(comm, code)
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_Comm) :: comm
    integer :: code, class, ierror
    call MPI_Error_class(code, class, ierror)
    call say('error class', int(10 * class + merge(1, 0, comm == MPI_COMM_WORLD), 8))
  end subroutine
end module

program world
  use callbacks
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: i, ierror, keys(7), key, length, relation, color
  integer(MPI_ADDRESS_KIND) :: value, extra
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name
  HANDLE(MPI_Comm) :: duplicate, half, handle
  HANDLE(MPI_Errhandler) :: handler, current
  HANDLE(MPI_Group) :: group

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size_of_world, ierror)
  call say('size', int(size_of_world, 8))

  call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierror)
  call say(trim(name), int(length, 8))
  call MPI_Comm_set_name(MPI_COMM_WORLD, 'another name', ierror)
  call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierror)
  call say(trim(name), int(length, 8))
  call MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, relation, ierror)
  call say('identical', merge(1_8, 0_8, relation == MPI_IDENT))
  call say('integer', int(NUMBER(MPI_COMM_WORLD), 8))

  keys = (/MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_LASTUSEDCODE, MPI_UNIVERSE_SIZE/)
  do i = 1, 7
    value = -99
    call MPI_Comm_get_attr(MPI_COMM_WORLD, keys(i), value, flag, ierror)
    call say('attribute', int(value, 8) + merge(0, 1000, flag))
  end do
  extra = 3
  call MPI_Comm_create_keyval(copy_attribute, delete_attribute, key, extra, ierror)
  value = 4
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, duplicate, ierror)
  value = -1
  call MPI_Comm_get_attr(duplicate, key, value, flag, ierror)
  call say('copied', int(value, 8))
  call MPI_Comm_get_attr(duplicate, MPI_TAG_UB, value, flag, ierror)
  call say('duplicate has a tag bound', merge(1_8, 0_8, flag))
  color = 0
  call MPI_Comm_split(MPI_COMM_WORLD, color, rank, half, ierror)
  call MPI_Comm_get_attr(half, MPI_TAG_UB, value, flag, ierror)
  call say('split has a tag bound', merge(1_8, 0_8, flag))

  call MPI_Comm_create_errhandler(on_error, handler, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierror)
  call MPI_Comm_get_errhandler(MPI_COMM_WORLD, current, ierror)
  call say('same handler', merge(1_8, 0_8, current == handler))
  call MPI_Send(i, 1, MPI_INTEGER, size_of_world + 5, 0, MPI_COMM_WORLD, ierror)
  call MPI_Send(i, -1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierror)
  call MPI_Group_size(MPI_GROUP_NULL, i, ierror)
  call MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER, ierror)
  handle = MPI_COMM_WORLD
  call MPI_Comm_free(handle, ierror)
  call say('free of world fails', merge(1_8, 0_8, ierror /= MPI_SUCCESS))
  call say('handle kept', merge(1_8, 0_8, handle == MPI_COMM_WORLD))

  call MPI_Comm_group(MPI_COMM_WORLD, group, ierror)
  call MPI_Group_size(group, length, ierror)
  call say('group', int(length, 8))
  call MPI_Group_free(group, ierror)
  call MPI_Comm_free(duplicate, ierror)
  call MPI_Comm_free(half, ierror)
  call MPI_Finalize(ierror)
  call MPI_Finalized(flag, ierror)
  call say('finalised', merge(1_8, 0_8, flag))
  call say('deletions', int(deletions, 8))
end program
