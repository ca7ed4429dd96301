! Info objects, and those of communicators; see ../info.c.
#include "dialect.h"

subroutine info_objects()
  use shared
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: i, ierror, length
  logical :: flag
  character(len=7) :: short
  HANDLE(MPI_Info) :: made, twin, read
  HANDLE(MPI_Comm) :: comm, duplicate
  call MPI_Info_create(made END_OF_CALL
  call show('empty', made)
  call MPI_Info_set(made, 'colour', 'blue' END_OF_CALL
  call MPI_Info_set(made, 'size', '17' END_OF_CALL
  call MPI_Info_set(made, 'colour', 'a longer colour' END_OF_CALL
  call MPI_Info_get(made, 'colour', 7, short, flag END_OF_CALL
  call say_text('cut', short)
  call MPI_Info_get_valuelen(made, 'shape', length, flag END_OF_CALL
  call say('no shape', yes(flag))
  call MPI_Info_dup(made, twin END_OF_CALL
  call MPI_Info_delete(made, 'colour' END_OF_CALL
  call show('one left', made)
  call show('twin', twin)
  do i = 1, intra_count + inter_count
    if (i <= intra_count) comm = intra(i)
    if (i > intra_count) comm = inter(i - intra_count)
    call MPI_Comm_set_info(comm, twin END_OF_CALL
    call MPI_Comm_get_info(comm, read END_OF_CALL
    call show('read', read)
    call MPI_Info_free(read END_OF_CALL
    call MPI_Comm_dup_with_info(comm, made, duplicate END_OF_CALL
    call MPI_Comm_get_info(duplicate, read END_OF_CALL
    call show('of the duplicate', read)
    call MPI_Info_free(read END_OF_CALL
    call MPI_Comm_free(duplicate END_OF_CALL
  end do
  call MPI_Info_free(made END_OF_CALL
  call MPI_Info_free(twin END_OF_CALL
  call say('freed', yes(made == MPI_INFO_NULL))
contains
  subroutine show(name, info)
    character(len=*), intent(in) :: name
    HANDLE(MPI_Info) :: info
    character(len=MPI_MAX_INFO_KEY) :: key
    character(len=MPI_MAX_INFO_VAL) :: value
    integer :: keys, k
    call MPI_Info_get_nkeys(info, keys END_OF_CALL
    call say(name, keys)
    do k = 0, keys - 1
      call MPI_Info_get_nthkey(info, k, key END_OF_CALL
      call MPI_Info_get_valuelen(info, key, length, flag END_OF_CALL
      call MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, flag END_OF_CALL
      call say_text(trim(key), trim(value))
      call say('length', length)
    end do
  end subroutine
end subroutine
