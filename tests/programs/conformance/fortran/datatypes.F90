! Datatypes; see ../datatypes.c.
#include "dialect.h"

subroutine datatypes()
  use shared
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, parameter :: n = 128
  integer :: ierror, lengths(3), places(3), sizes(2), part(2), start(2), distribution(2), arguments(2), grid(2), i
  integer(MPI_ADDRESS_KIND) :: byte_places(3), lower, extent, first, second
  HANDLE(MPI_Datatype) :: type, types(3)
  character(len=MPI_MAX_OBJECT_NAME) :: text
  integer :: length, code, class, room
  lengths = [1, 2, 3]
  places = [0, 4, 9]
  byte_places = [0, 16, 40]
  sizes = [6, 8]
  part = [2, 3]
  start = [1, 2]
  distribution = [MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC]
  arguments = [MPI_DISTRIBUTE_DFLT_DARG, 2]
  grid = [2, 2]
  types(1) = MPI_INTEGER
  types(2) = MPI_REAL
  types(3) = MPI_CHARACTER
  call MPI_Type_contiguous(5, MPI_INTEGER, type END_OF_CALL
  call whole('contiguous')
  call MPI_Type_vector(3, 2, 4, MPI_INTEGER, type END_OF_CALL
  call whole('vector')
  extent = 24
  call MPI_Type_create_hvector(3, 2, extent, MPI_REAL, type END_OF_CALL
  call whole('hvector')
  call MPI_Type_indexed(3, lengths, places, MPI_INTEGER, type END_OF_CALL
  call whole('indexed')
  call MPI_Type_create_hindexed(3, lengths, byte_places, MPI_INTEGER, type END_OF_CALL
  call whole('hindexed')
  call MPI_Type_create_indexed_block(3, 2, places, MPI_DOUBLE_PRECISION, type END_OF_CALL
  call whole('indexed block')
  call MPI_Type_create_hindexed_block(3, 2, byte_places, MPI_DOUBLE_PRECISION, type END_OF_CALL
  call whole('hindexed block')
  call MPI_Type_create_struct(3, lengths, byte_places, types, type END_OF_CALL
  call whole('struct')
  call MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_FORTRAN, MPI_INTEGER, type END_OF_CALL
  call whole('subarray')
  call MPI_Type_create_darray(4, world_rank, 2, sizes, distribution, arguments, grid, MPI_ORDER_C, MPI_INTEGER, &
    type END_OF_CALL
  call whole('darray')
  lower = -4
  extent = 16
  call MPI_Type_create_resized(MPI_INTEGER, lower, extent, type END_OF_CALL
  call whole('resized')
  call MPI_Type_dup(MPI_2INTEGER, type END_OF_CALL
  call whole('duplicate')
  call MPI_Type_create_f90_real(12, 100, type END_OF_CALL
  call describe('real with 12 digits')
  call MPI_Type_create_f90_integer(4, type END_OF_CALL
  call describe('integer with 4 digits')
  call MPI_Type_create_f90_complex(6, 30, type END_OF_CALL
  call describe('complex with 6 digits')
  call MPI_Type_get_name(MPI_DOUBLE_PRECISION, text, length END_OF_CALL
  call say_text('name', trim(text))
  call MPI_Type_dup(MPI_INTEGER, type END_OF_CALL
  call MPI_Type_set_name(type, 'counts of cells' END_OF_CALL
  call MPI_Type_get_name(type, text, length END_OF_CALL
  call say_text('name', trim(text))
  call MPI_Type_free(type END_OF_CALL
  call MPI_Get_address(lengths(1), first END_OF_CALL
  call MPI_Get_address(lengths(3), second END_OF_CALL
  call say('addresses', int(second - first))
  do i = 1, intra_count
    call MPI_Pack_size(7, MPI_DOUBLE_PRECISION, intra(i), room END_OF_CALL
    call say('seven on ' // trim(intra_name(i)), room)
  end do
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN END_OF_CALL
  type = MPI_DATATYPE_NULL
  call MPI_Type_commit(type, code)
  call MPI_Error_class(code, class END_OF_CALL
  call say('commit of none', class)
  call MPI_Type_size(MPI_DATATYPE_NULL, room, code)
  call MPI_Error_class(code, class END_OF_CALL
  call say('size of none', class)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL END_OF_CALL
contains
  subroutine describe(name)
    character(len=*), intent(in) :: name
    integer :: size, integers, addresses, datatypes, combiner
    call MPI_Type_size(type, size END_OF_CALL
    call MPI_Type_get_extent(type, lower, extent END_OF_CALL
    call say(name, size, int(lower), int(extent))
    call MPI_Type_get_true_extent(type, lower, extent END_OF_CALL
    call MPI_Type_get_envelope(type, integers, addresses, datatypes, combiner END_OF_CALL
    call say(name, int(lower), int(extent), integers, addresses, datatypes)
  end subroutine

  ! Describes the type and sends one of it around each communicator, also packed.
  subroutine whole(name)
    character(len=*), intent(in) :: name
    integer :: out(n), in(n), packed(n), k, rank, size, to, from, position, elements
    HANDLE(MPI_Comm) :: comm
    STATUS(status)
    call MPI_Type_commit(type END_OF_CALL
    call describe(name)
    do i = 1, intra_count + inter_count
      if (i <= intra_count) then
        comm = intra(i)
        call MPI_Comm_rank(comm, rank END_OF_CALL
        call MPI_Comm_size(comm, size END_OF_CALL
        to = mod(rank + 1, size)
        from = mod(rank + size - 1, size)
      else
        comm = inter(i - intra_count)
        call MPI_Comm_rank(comm, rank END_OF_CALL
        to = rank
        from = rank
      end if
      out = [(1000 * world_rank + k, k=1, n)]
      in = 0
      call MPI_Sendrecv(out, 1, type, to, 1, in, 1, type, from, 1, comm, status END_OF_CALL
      call MPI_Get_elements(status, type, elements END_OF_CALL
      call say('travelled', elements, sum(in), maxval(in))
      position = 0
      call MPI_Pack(out, 1, type, packed, 4 * n, position, comm END_OF_CALL
      call MPI_Sendrecv_replace(packed, position, MPI_PACKED, to, 2, from, 2, comm, MPI_STATUS_IGNORE END_OF_CALL
      position = 0
      in = 0
      call MPI_Unpack(packed, 4 * n, position, in, 1, type, comm END_OF_CALL
      call say('unpacked', position, sum(in), maxval(in))
    end do
    call MPI_Type_free(type END_OF_CALL
    call say('freed', yes(type == MPI_DATATYPE_NULL))
  end subroutine
end subroutine
