! Caching: predefined attributes, own ones and their callbacks; see ../attributes.c.
#include "dialect.h"

module attribute_callbacks
  USE_HANDLES
  implicit none
  HANDLE(MPI_Comm) :: expected
contains
  subroutine copy_attribute(comm, key, extra, in, out, flag, ierror)
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_Comm) :: comm
    integer :: key, ierror, size
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    call MPI_Comm_size(comm, size, ierror)
    call say('copied', yes(comm == expected), yes(comm == MPI_COMM_WORLD), size, int(extra), int(in))
    out = in + 1
    flag = in /= 13
    ierror = MPI_SUCCESS
  end subroutine

  ! Open MPI 4.1 hands an undefined integer over as comm here, so it is not looked at.
  subroutine delete_attribute(comm, key, value, extra, ierror)
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_Comm) :: comm
    integer :: key, ierror, rank
    integer(MPI_ADDRESS_KIND) :: value, extra
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call say('deleted', yes(rank == world_rank), int(extra), int(value))
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_of_window(window, key, value, extra, ierror)
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_Win) :: window
    integer :: key, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    call say('deleted of a window', int(value))
    ierror = MPI_SUCCESS
  end subroutine
end module

subroutine attributes()
  use shared
  use attribute_callbacks
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: i, k, keys(7), ierror, key, class
  integer(MPI_ADDRESS_KIND) :: value, extra
  logical :: flag
  HANDLE(MPI_Comm) :: made
  keys = [MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE]
  do i = 1, intra_count
    do k = 1, 7
      value = -1
      call MPI_Comm_get_attr(intra(i), keys(k), value, flag END_OF_CALL
      ! Open MPI 4.1 gives Fortran an undefined number for a duplicate.
      if (.not. flag .or. i > 1) value = -1
      call say('predefined on ' // trim(intra_name(i)), k, yes(flag), int(value))
    end do
  end do
  do i = 1, intra_count + 1
    if (i <= intra_count) expected = intra(i)
    if (i > intra_count) expected = inter(1)
    extra = i
    call MPI_Comm_create_keyval(copy_attribute, delete_attribute, key, extra END_OF_CALL
    call MPI_Comm_get_attr(expected, key, value, flag END_OF_CALL
    call say('not set', yes(flag))
    value = 5
    call MPI_Comm_set_attr(expected, key, value END_OF_CALL
    value = 7
    call MPI_Comm_set_attr(expected, key, value END_OF_CALL
    call MPI_Comm_get_attr(expected, key, value, flag END_OF_CALL
    call say('set', yes(flag), int(value))
    call MPI_Comm_dup(expected, made END_OF_CALL
    call MPI_Comm_get_attr(made, key, value, flag END_OF_CALL
    call say('of the duplicate', yes(flag), int(value))
    call MPI_Comm_free(made END_OF_CALL
    value = 13
    call MPI_Comm_set_attr(expected, key, value END_OF_CALL
    call MPI_Comm_dup(expected, made END_OF_CALL
    call MPI_Comm_get_attr(made, key, value, flag END_OF_CALL
    call say('not of the duplicate', yes(flag))
    call MPI_Comm_free(made END_OF_CALL
    call MPI_Comm_delete_attr(expected, key END_OF_CALL
    call MPI_Comm_free_keyval(key END_OF_CALL
    call say('freed', yes(key == MPI_KEYVAL_INVALID))
    extra = 0
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra END_OF_CALL
    value = 21
    call MPI_Comm_set_attr(expected, key, value END_OF_CALL
    call MPI_Comm_dup(expected, made END_OF_CALL
    call MPI_Comm_get_attr(made, key, value, flag END_OF_CALL
    call say('of the duplicate', yes(flag), int(value))
    call MPI_Comm_free(made END_OF_CALL
    call MPI_Comm_delete_attr(expected, key END_OF_CALL
    call MPI_Comm_free_keyval(key END_OF_CALL
  end do
  call MPI_Add_error_class(class END_OF_CALL
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, value, flag END_OF_CALL
  call say('last used code', yes(flag), int(value) - class)
  call of_types_and_windows()
#if !defined(DIALECT_F08)
  call deprecated()
#endif
contains
  subroutine of_types_and_windows()
    HANDLE(MPI_Datatype) :: type, twin
    HANDLE(MPI_Win) :: window
    integer :: cell
    integer(MPI_ADDRESS_KIND) :: bytes
    call MPI_Type_contiguous(2, MPI_INTEGER, type END_OF_CALL
    extra = 0
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, extra END_OF_CALL
    value = 3
    call MPI_Type_set_attr(type, key, value END_OF_CALL
    call MPI_Type_dup(type, twin END_OF_CALL
    call MPI_Type_get_attr(twin, key, value, flag END_OF_CALL
    call say('of the twin', yes(flag), int(value))
    call MPI_Type_delete_attr(twin, key END_OF_CALL
    call MPI_Type_free(type END_OF_CALL
    call MPI_Type_free(twin END_OF_CALL
    call MPI_Type_free_keyval(key END_OF_CALL
    bytes = 4
    call MPI_Win_create(cell, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, window END_OF_CALL
    call MPI_Win_get_attr(window, MPI_WIN_SIZE, value, flag END_OF_CALL
    call say('size of the window', yes(flag), int(value))
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_of_window, key, extra END_OF_CALL
    value = 8
    call MPI_Win_set_attr(window, key, value END_OF_CALL
    call MPI_Win_get_attr(window, key, value, flag END_OF_CALL
    call say('of the window', yes(flag), int(value))
    call MPI_Win_delete_attr(window, key END_OF_CALL
    call MPI_Win_free_keyval(key END_OF_CALL
    call MPI_Win_free(window END_OF_CALL
  end subroutine

#if !defined(DIALECT_F08)
  subroutine deprecated()
    integer :: number
    do i = 1, intra_count
      call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, key, 0, ierror)
      call MPI_Attr_put(intra(i), key, 17, ierror)
      call MPI_Comm_dup(intra(i), made, ierror)
      number = -1
      call MPI_Attr_get(made, key, number, flag, ierror)
      call say('old attribute', yes(flag), number)
      number = -1
      call MPI_Attr_get(intra(i), MPI_TAG_UB, number, flag, ierror)
      call say('old bound of tags', yes(flag), merge(number, -1, flag .and. i == 1)) ! as above
      call MPI_Attr_delete(intra(i), key, ierror)
      call MPI_Comm_free(made, ierror)
      call MPI_Keyval_free(key, ierror)
    end do
  end subroutine
#endif
end subroutine
