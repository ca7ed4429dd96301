! Files; see ../io.c.
#include "dialect.h"

subroutine io()
  use shared
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, parameter :: n = 6
  integer :: i, ierror, rank, size, step, turn, out(n), in(n), counted, extra
  integer(MPI_OFFSET_KIND) :: mine, at
  character(len=60) :: name
  HANDLE(MPI_File) :: file
  HANDLE(MPI_Comm) :: comm
  HANDLE(MPI_Request) :: request
  STATUS(status)
  do i = 1, intra_count
    comm = intra(i)
    extra = 0
    if (i == 4) extra = mod(world_rank, 2)
    if (i == 7) extra = world_rank
    write (name, '(a,a,a,i0)') 'io.', trim(intra_name(i)), '.', extra
    call MPI_Comm_rank(comm, rank END_OF_CALL
    call MPI_Comm_size(comm, size END_OF_CALL
    call MPI_File_open(comm, path_of(trim(name)), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file END_OF_CALL
    mine = 4 * n * rank ! bytes: the view is still that of the opening
    call own_places()
    call shared_places()
    call views()
    call properties()
    call MPI_File_close(file END_OF_CALL
    call MPI_Barrier(comm END_OF_CALL
    if (rank == 0) call MPI_File_delete(path_of(trim(name)), MPI_INFO_NULL END_OF_CALL
  end do
contains
  subroutine fill(number)
    integer, intent(in) :: number
    integer :: k
    step = number
    out = [(1000 * number + 100 * rank + k, k=1, n)]
    in = -1
  end subroutine

  subroutine done(what)
    character(len=*), intent(in) :: what
    call MPI_Get_count(status, MPI_INTEGER, counted END_OF_CALL
    call say(trim(intra_name(i)) // ' ' // what, counted, in(1), in(n))
  end subroutine

  subroutine own_places()
    call fill(1)
    call MPI_File_write_at(file, mine, out, n, MPI_INTEGER, status END_OF_CALL
    call MPI_File_read_at(file, mine, in, n, MPI_INTEGER, status END_OF_CALL
    call done('at')
    call fill(2)
    call MPI_File_write_at_all(file, mine, out, n, MPI_INTEGER, MPI_STATUS_IGNORE END_OF_CALL
    call MPI_File_read_at_all(file, mine, in, n, MPI_INTEGER, status END_OF_CALL
    call done('at_all')
    call fill(3)
    call MPI_File_iwrite_at(file, mine, out, n, MPI_INTEGER, request END_OF_CALL
    call MPI_Wait(request, status END_OF_CALL
    call MPI_File_iread_at(file, mine, in, n, MPI_INTEGER, request END_OF_CALL
    call MPI_Wait(request, status END_OF_CALL
    call done('i_at')
    call fill(4)
    call MPI_File_iwrite_at_all(file, mine, out, n, MPI_INTEGER, request END_OF_CALL
    call MPI_Wait(request, status END_OF_CALL
    call MPI_File_iread_at_all(file, mine, in, n, MPI_INTEGER, request END_OF_CALL
    call MPI_Wait(request, status END_OF_CALL
    call done('i_at_all')
    call fill(5)
    call MPI_File_write_at_all_begin(file, mine, out, n, MPI_INTEGER END_OF_CALL
    call MPI_File_write_at_all_end(file, out, status END_OF_CALL
    call MPI_File_read_at_all_begin(file, mine, in, n, MPI_INTEGER END_OF_CALL
    call MPI_File_read_at_all_end(file, in, status END_OF_CALL
    call done('at_all split')
    call fill(6)
    call MPI_File_seek(file, mine, MPI_SEEK_SET END_OF_CALL
    call MPI_File_write(file, out, n, MPI_INTEGER, status END_OF_CALL
    call MPI_File_seek(file, mine, MPI_SEEK_SET END_OF_CALL
    call MPI_File_read(file, in, n, MPI_INTEGER, status END_OF_CALL
    call done('pointer')
    call MPI_File_get_position(file, at END_OF_CALL
    call say('position', int(at))
    call fill(7)
    call MPI_File_seek(file, mine, MPI_SEEK_SET END_OF_CALL
    call MPI_File_write_all(file, out, n, MPI_INTEGER, status END_OF_CALL
    call MPI_File_seek(file, mine, MPI_SEEK_SET END_OF_CALL
    call MPI_File_read_all(file, in, n, MPI_INTEGER, status END_OF_CALL
    call done('all')
    call fill(8)
    call MPI_File_seek(file, mine, MPI_SEEK_SET END_OF_CALL
    call MPI_File_iwrite(file, out, n, MPI_INTEGER, request END_OF_CALL
    call MPI_Wait(request, status END_OF_CALL
    call MPI_File_seek(file, mine, MPI_SEEK_SET END_OF_CALL
    call MPI_File_iread(file, in, n, MPI_INTEGER, request END_OF_CALL
    call MPI_Wait(request, status END_OF_CALL
    call done('i')
    call fill(9)
    call MPI_File_seek(file, mine, MPI_SEEK_SET END_OF_CALL
    call MPI_File_iwrite_all(file, out, n, MPI_INTEGER, request END_OF_CALL
    call MPI_Wait(request, status END_OF_CALL
    call MPI_File_seek(file, mine, MPI_SEEK_SET END_OF_CALL
    call MPI_File_iread_all(file, in, n, MPI_INTEGER, request END_OF_CALL
    call MPI_Wait(request, status END_OF_CALL
    call done('i_all')
    call fill(10)
    call MPI_File_seek(file, mine, MPI_SEEK_SET END_OF_CALL
    call MPI_File_write_all_begin(file, out, n, MPI_INTEGER END_OF_CALL
    call MPI_File_write_all_end(file, out, status END_OF_CALL
    call MPI_File_seek(file, mine, MPI_SEEK_SET END_OF_CALL
    call MPI_File_read_all_begin(file, in, n, MPI_INTEGER END_OF_CALL
    call MPI_File_read_all_end(file, in, status END_OF_CALL
    call done('all split')
  end subroutine

  subroutine rewind_shared()
    call MPI_Barrier(comm END_OF_CALL
    call MPI_File_seek_shared(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET END_OF_CALL
  end subroutine

  subroutine shared_places()
    call fill(11)
    call rewind_shared()
    call MPI_File_write_ordered(file, out, n, MPI_INTEGER, status END_OF_CALL
    call MPI_File_get_position_shared(file, at END_OF_CALL
    call say('shared position', int(at))
    call rewind_shared()
    call MPI_File_read_ordered(file, in, n, MPI_INTEGER, status END_OF_CALL
    call done('ordered')
    call fill(12)
    call rewind_shared()
    call MPI_File_write_ordered_begin(file, out, n, MPI_INTEGER END_OF_CALL
    call MPI_File_write_ordered_end(file, out, status END_OF_CALL
    call rewind_shared()
    call MPI_File_read_ordered_begin(file, in, n, MPI_INTEGER END_OF_CALL
    call MPI_File_read_ordered_end(file, in, status END_OF_CALL
    call done('ordered split')
    call rewind_shared()
    do turn = 0, size - 1
      if (turn == rank) then
        call fill(13)
        call MPI_File_write_shared(file, out, n, MPI_INTEGER, status END_OF_CALL
        call MPI_File_iwrite_shared(file, out, n, MPI_INTEGER, request END_OF_CALL
        call MPI_Wait(request, status END_OF_CALL
      end if
      call MPI_Barrier(comm END_OF_CALL
    end do
    call rewind_shared()
    do turn = 0, size - 1
      if (turn == rank) then
        call MPI_File_read_shared(file, in, n, MPI_INTEGER, status END_OF_CALL
        call done('shared')
        call MPI_File_iread_shared(file, in, n, MPI_INTEGER, request END_OF_CALL
        call MPI_Wait(request, status END_OF_CALL
        call done('i_shared')
      end if
      call MPI_Barrier(comm END_OF_CALL
    end do
  end subroutine

  subroutine views()
    HANDLE(MPI_Datatype) :: block, type, element
    integer :: whole(1), length(1), start(1)
    integer(MPI_OFFSET_KIND) :: displacement, byte
    integer(MPI_ADDRESS_KIND) :: extent
    character(len=MPI_MAX_DATAREP_STRING) :: representation
    whole = 2 * size
    length = 2
    start = 2 * rank
    call MPI_Type_create_subarray(1, whole, length, start, MPI_ORDER_FORTRAN, MPI_INTEGER, block END_OF_CALL
    call MPI_Type_commit(block END_OF_CALL
    displacement = 8
    call MPI_File_set_view(file, displacement, MPI_INTEGER, block, 'native', MPI_INFO_NULL END_OF_CALL
    call fill(14)
    call MPI_File_write_all(file, out, n, MPI_INTEGER, status END_OF_CALL
    call MPI_File_get_view(file, displacement, element, type, representation END_OF_CALL
    call MPI_File_get_byte_offset(file, 3_MPI_OFFSET_KIND, byte END_OF_CALL
    call MPI_File_get_type_extent(file, MPI_INTEGER, extent END_OF_CALL
    call say_text('representation', trim(representation))
    call say('view', int(displacement), int(byte), int(extent))
    call MPI_File_seek(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET END_OF_CALL
    call MPI_File_read_all(file, in, n, MPI_INTEGER, status END_OF_CALL
    call done('view')
    call MPI_Barrier(comm END_OF_CALL
    displacement = 0
    call MPI_File_set_view(file, displacement, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL END_OF_CALL
    displacement = 2
    call MPI_File_read_at_all(file, displacement, in, n, MPI_INTEGER, status END_OF_CALL
    call done('interleaved')
    call MPI_Type_free(block END_OF_CALL
  end subroutine

  subroutine properties()
    HANDLE(MPI_Group) :: group, of_comm
    HANDLE(MPI_Info) :: read
    integer(MPI_OFFSET_KIND) :: bytes
    integer :: mode, relation
    logical :: atomic
    call MPI_File_get_amode(file, mode END_OF_CALL
    call MPI_File_set_atomicity(file, .true. END_OF_CALL
    call MPI_File_get_atomicity(file, atomic END_OF_CALL
    call MPI_File_set_atomicity(file, .false. END_OF_CALL
    call MPI_File_get_group(file, group END_OF_CALL
    call MPI_Comm_group(comm, of_comm END_OF_CALL
    call MPI_Group_compare(group, of_comm, relation END_OF_CALL
    call MPI_Group_free(group END_OF_CALL
    call MPI_Group_free(of_comm END_OF_CALL
    bytes = 16 ! less than there is: Open MPI 4.1 is not safe when it must write
    call MPI_File_preallocate(file, bytes END_OF_CALL
    call MPI_File_get_size(file, bytes END_OF_CALL
    call say('properties', mode, yes(atomic), yes(relation == MPI_IDENT), int(bytes))
    call MPI_Barrier(comm END_OF_CALL
    bytes = 512
    call MPI_File_set_size(file, bytes END_OF_CALL
    call MPI_File_sync(file END_OF_CALL
    call MPI_File_get_size(file, bytes END_OF_CALL
    call say('cut', int(bytes))
    call MPI_File_get_info(file, read END_OF_CALL
    call MPI_File_set_info(file, read END_OF_CALL
    call MPI_Info_free(read END_OF_CALL
  end subroutine
end subroutine
