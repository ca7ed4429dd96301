! The same calls as mpi_traffic.c in Fortran. DIALECT_MPIF, DIALECT_MPI or DIALECT_F08 chooses mpif.h, use mpi or
! use mpi_f08; HANDLE declares an MPI object in that dialect.
#if defined(DIALECT_F08)
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#define HANDLE(name) type(name)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#define STATUS_AT(name, i) name(i)
#elif defined(DIALECT_MPI)
#define USE_MPI use mpi
#define INCLUDE_MPI
#define HANDLE(name) integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define STATUS_AT(name, i) name(:, i)
#else
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#define HANDLE(name) integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define STATUS_AT(name, i) name(:, i)
#endif
! ierror is optional in mpi_f08 only; leave it out there to try that too.
#if defined(DIALECT_F08)
#define ERROR )
#else
#define ERROR , ierror)
#endif

module place
  integer :: rank, size_of_world
contains
  subroutine say(what, value)
    character(len=*), intent(in) :: what
    integer(8), intent(in) :: value
    if (rank == 0) print '(a,1x,i0)', what, value
  end subroutine
  pure integer(8) function as_long(flag)
    logical, intent(in) :: flag
    as_long = merge(1_8, 0_8, flag)
  end function
end module

subroutine point_to_point()
  use place
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: buffer(100), other(100), i, count, next, previous, done, indices(4), ierror
  logical :: flag
  STATUS(status)
  STATUSES(statuses, 4)
  HANDLE(MPI_Request) :: requests(4)
  HANDLE(MPI_Message) :: message
  next = mod(rank + 1, size_of_world)
  previous = mod(rank + size_of_world - 1, size_of_world)
  do i = 1, 100
    buffer(i) = rank * 1000 + i - 1
  end do
  if (rank == 0) call MPI_Send(buffer, 10, MPI_INTEGER, 1, 5, MPI_COMM_WORLD ERROR
  if (rank == 1) call MPI_Recv(other, 100, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &
                               MPI_STATUS_IGNORE ERROR
  call MPI_Send(buffer, 10, MPI_INTEGER, MPI_PROC_NULL, 5, MPI_COMM_WORLD ERROR
  call MPI_Recv(other, 10, MPI_INTEGER, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERROR
  call MPI_Sendrecv(buffer, 20, MPI_INTEGER, next, 6, other, 100, MPI_INTEGER, previous, 6, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE ERROR
  call MPI_Sendrecv_replace(other, 7, MPI_INTEGER, next, 7, previous, 7, MPI_COMM_WORLD, status ERROR
  call MPI_Get_count(status, MPI_INTEGER, count ERROR
  call say('sendrecv_replace', int(count + other(1), 8))

  call MPI_Irecv(other, 50, MPI_INTEGER, previous, 8, MPI_COMM_WORLD, requests(1) ERROR
  call MPI_Irecv(other(51), 50, MPI_INTEGER, previous, 9, MPI_COMM_WORLD, requests(2) ERROR
  call MPI_Isend(buffer, 30, MPI_INTEGER, next, 8, MPI_COMM_WORLD, requests(3) ERROR
  call MPI_Issend(buffer, 40, MPI_INTEGER, next, 9, MPI_COMM_WORLD, requests(4) ERROR
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE ERROR
  call MPI_Irecv(other, 50, MPI_INTEGER, previous, 8, MPI_COMM_WORLD, requests(1) ERROR
  call MPI_Isend(buffer, 31, MPI_INTEGER, next, 8, MPI_COMM_WORLD, requests(2) ERROR
  call MPI_Waitall(2, requests, statuses ERROR
  call MPI_Get_count(STATUS_AT(statuses, 1), MPI_INTEGER, count ERROR
  call say('waitall', int(count + other(31), 8))

  call MPI_Irecv(other, 50, MPI_INTEGER, previous, 10, MPI_COMM_WORLD, requests(1) ERROR
  call MPI_Isend(buffer, 3, MPI_INTEGER, next, 10, MPI_COMM_WORLD, requests(2) ERROR
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE ERROR
  call MPI_Wait(requests(2), status ERROR
  requests(3) = MPI_REQUEST_NULL
  call MPI_Irecv(other, 50, MPI_INTEGER, previous, 11, MPI_COMM_WORLD, requests(4) ERROR
  call MPI_Send(buffer, 4, MPI_INTEGER, next, 11, MPI_COMM_WORLD ERROR
  call MPI_Waitany(4, requests, i, MPI_STATUS_IGNORE ERROR
  ! Not the index: mpi_f08 of MPICH 4.0 counts it from 0.
  call say('waitany', as_long(requests(4) == MPI_REQUEST_NULL))
  call MPI_Irecv(other, 50, MPI_INTEGER, previous, 12, MPI_COMM_WORLD, requests(2) ERROR
  call MPI_Send(buffer, 5, MPI_INTEGER, next, 12, MPI_COMM_WORLD ERROR
  call MPI_Waitsome(4, requests, done, indices, MPI_STATUSES_IGNORE ERROR
  call say('waitsome', int(10 * done, 8) + as_long(requests(2) == MPI_REQUEST_NULL))
  call MPI_Testall(4, requests, flag, MPI_STATUSES_IGNORE ERROR
  call say('testall', as_long(flag))
  call MPI_Testany(4, requests, i, flag, status ERROR
  call say('testany', as_long(flag))  ! MPICH 4.0 leaves the index alone when no request was active
  call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE ERROR
  call say('test', as_long(flag))

  call MPI_Send_init(buffer, 6, MPI_INTEGER, next, 13, MPI_COMM_WORLD, requests(1) ERROR
  call MPI_Recv_init(other, 50, MPI_INTEGER, previous, 13, MPI_COMM_WORLD, requests(2) ERROR
  do i = 1, 3
    call MPI_Startall(2, requests ERROR
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE ERROR
  end do
  call MPI_Start(requests(1) ERROR
  call MPI_Start(requests(2) ERROR
  call MPI_Waitall(2, requests, statuses ERROR
  call MPI_Request_free(requests(1) ERROR
  call MPI_Request_free(requests(2) ERROR
  call say('persistent', int(other(6), 8))

  call MPI_Isend(buffer, 9, MPI_INTEGER, next, 14, MPI_COMM_WORLD, requests(1) ERROR
  call MPI_Probe(previous, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERROR
  call MPI_Iprobe(previous, 14, MPI_COMM_WORLD, flag, status ERROR
  call MPI_Get_count(status, MPI_INTEGER, count ERROR
  call say('iprobe', count + as_long(flag))
  call MPI_Mprobe(previous, 14, MPI_COMM_WORLD, message, status ERROR
  call MPI_Mrecv(other, 50, MPI_INTEGER, message, MPI_STATUS_IGNORE ERROR
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE ERROR
  call say('mrecv', int(other(9), 8))
end subroutine

subroutine datatypes()
  use place
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: buffer(100), i, ierror
  HANDLE(MPI_Datatype) :: vector
  STATUS(status)
  do i = 1, 100
    buffer(i) = i - 1 + rank
  end do
  call MPI_Type_vector(10, 2, 5, MPI_INTEGER, vector ERROR
  call MPI_Type_commit(vector ERROR
  if (rank == 0) call MPI_Send(buffer, 2, vector, 1, 20, MPI_COMM_WORLD ERROR
  if (rank == 1) call MPI_Recv(buffer, 100, MPI_INTEGER, 0, 20, MPI_COMM_WORLD, status ERROR
  call MPI_Bcast(buffer, 1, vector, 0, MPI_COMM_WORLD ERROR
  call MPI_Type_free(vector ERROR
  call say('vector', int(buffer(6), 8))
end subroutine

subroutine collectives()
  use place
  USE_MPI
  implicit none
  INCLUDE_MPI
  double precision :: in(64), out(64)
  integer :: counts(16), displacements(16), one(16), i, ierror
  HANDLE(MPI_Datatype) :: types(16)
  HANDLE(MPI_Request) :: request
  do i = 1, 64
    in(i) = rank + i - 1
    out(i) = 0
  end do
  do i = 1, size_of_world
    counts(i) = i
    displacements(i) = (i - 1) * i / 2
    one(i) = 1
    types(i) = MPI_DOUBLE_PRECISION
  end do
  call MPI_Barrier(MPI_COMM_WORLD ERROR
  call MPI_Bcast(in, 5, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD ERROR
  call MPI_Reduce(in, out, 4, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD ERROR
  call MPI_Allreduce(MPI_IN_PLACE, in, 3, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD ERROR
  call MPI_Allreduce(in, out, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD ERROR
  call say('allreduce', int(out(3), 8))
  call MPI_Gather(in, 2, MPI_DOUBLE_PRECISION, out, 2, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD ERROR
  if (rank == 0) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_DOUBLE_PRECISION, out, 2, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD ERROR
  else
    call MPI_Gather(in, 2, MPI_DOUBLE_PRECISION, out, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD ERROR
  end if
  call MPI_Gatherv(in, rank + 1, MPI_DOUBLE_PRECISION, out, counts, displacements, MPI_DOUBLE_PRECISION, 1, &
                   MPI_COMM_WORLD ERROR
  call MPI_Scatter(in, 2, MPI_DOUBLE_PRECISION, out, 2, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD ERROR
  call MPI_Scatterv(in, counts, displacements, MPI_DOUBLE_PRECISION, out, rank + 1, MPI_DOUBLE_PRECISION, 0, &
                    MPI_COMM_WORLD ERROR
  call MPI_Allgather(in, 2, MPI_DOUBLE_PRECISION, out, 2, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD ERROR
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DOUBLE_PRECISION, out, 2, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD ERROR
  call MPI_Allgatherv(in, rank + 1, MPI_DOUBLE_PRECISION, out, counts, displacements, MPI_DOUBLE_PRECISION, &
                      MPI_COMM_WORLD ERROR
  call MPI_Alltoall(in, 2, MPI_DOUBLE_PRECISION, out, 2, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD ERROR
  do i = 1, size_of_world
    displacements(i) = i - 1
  end do
  call MPI_Alltoallv(in, one, displacements, MPI_DOUBLE_PRECISION, out, one, displacements, MPI_DOUBLE_PRECISION, &
                     MPI_COMM_WORLD ERROR
  displacements = 8 * displacements
  call MPI_Alltoallw(in, one, displacements, types, out, one, displacements, types, MPI_COMM_WORLD ERROR
  call MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD ERROR
  call MPI_Reduce_scatter_block(in, out, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD ERROR
  call MPI_Scan(in, out, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD ERROR
  call MPI_Exscan(in, out, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD ERROR
  call MPI_Ibarrier(MPI_COMM_WORLD, request ERROR
  call MPI_Wait(request, MPI_STATUS_IGNORE ERROR
  call MPI_Iallreduce(in, out, 6, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request ERROR
  call MPI_Wait(request, MPI_STATUS_IGNORE ERROR
  call MPI_Ibcast(in, 7, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, request ERROR
  call MPI_Wait(request, MPI_STATUS_IGNORE ERROR
  call say('collectives', int(out(6) + in(7), 8))
end subroutine

subroutine communicators()
  use place
  USE_MPI
  implicit none
  INCLUDE_MPI
  HANDLE(MPI_Comm) :: half, duplicate, inter
  integer :: value, group, remote, relation, root, ierror
  value = rank
  call MPI_Comm_dup(MPI_COMM_WORLD, duplicate ERROR
  call MPI_Comm_compare(duplicate, MPI_COMM_WORLD, relation ERROR
  call say('compare', as_long(relation == MPI_CONGRUENT))
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half ERROR
  call MPI_Comm_size(half, group ERROR
  call say('split', int(group, 8))
  call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mod(rank, 2), 30, inter ERROR
  call MPI_Comm_remote_size(inter, remote ERROR
  call say('intercomm', int(remote, 8))
  root = merge(MPI_ROOT, MPI_PROC_NULL, rank == 0)
  if (mod(rank, 2) == 1) root = 0
  call MPI_Bcast(value, 1, MPI_INTEGER, root, inter ERROR
  call MPI_Allreduce(rank, value, 1, MPI_INTEGER, MPI_SUM, inter ERROR
  call say('inter allreduce', int(value, 8))
  call MPI_Comm_free(inter ERROR
  call MPI_Comm_free(half ERROR
  call MPI_Comm_free(duplicate ERROR
end subroutine

subroutine topologies()
  use place
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: dims(1), in(16), out(64), i, sources(1), destinations(1), weights(1), counts(2), displacements(2), ierror
  logical :: periods(1)
  HANDLE(MPI_Comm) :: grid, graph
  dims(1) = size_of_world
  periods(1) = .false.
  weights(1) = 1
  counts = (/2, 2/)
  displacements = (/0, 4/)
  do i = 1, 16
    in(i) = rank * 10 + i - 1
  end do
  out = -1
  call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, .false., grid ERROR
  call MPI_Neighbor_allgather(in, 2, MPI_INTEGER, out, 2, MPI_INTEGER, grid ERROR
  call MPI_Neighbor_alltoall(in, 2, MPI_INTEGER, out, 2, MPI_INTEGER, grid ERROR
  call MPI_Neighbor_alltoallv(in, counts, displacements, MPI_INTEGER, out, counts, displacements, MPI_INTEGER, &
                              grid ERROR
  call say('cart neighbours', int(out(5), 8))
  call MPI_Comm_free(grid ERROR
  sources(1) = mod(rank + size_of_world - 1, size_of_world)
  destinations(1) = mod(rank + 1, size_of_world)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, weights, 1, destinations, weights, MPI_INFO_NULL, &
                                      .false., graph ERROR
  call MPI_Neighbor_allgather(in, 3, MPI_INTEGER, out, 3, MPI_INTEGER, graph ERROR
  call say('graph neighbours', int(out(1), 8))
  call MPI_Comm_free(graph ERROR
end subroutine

subroutine one_sided()
  use place
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer(8), asynchronous :: window_memory(32), values(32), result(32)
  integer :: target, i, ierror
  HANDLE(MPI_Win) :: window
  target = mod(rank + 1, size_of_world)
  do i = 1, 32
    values(i) = rank + i - 1
  end do
  window_memory = 0
  result = 0
  call MPI_Win_create(window_memory, int(256, MPI_ADDRESS_KIND), 8, MPI_INFO_NULL, MPI_COMM_WORLD, window ERROR
  call MPI_Win_fence(0, window ERROR
  call MPI_Put(values, 4, MPI_INTEGER8, target, int(0, MPI_ADDRESS_KIND), 4, MPI_INTEGER8, window ERROR
  call MPI_Win_fence(0, window ERROR
  call MPI_Get(result, 3, MPI_INTEGER8, target, int(0, MPI_ADDRESS_KIND), 3, MPI_INTEGER8, window ERROR
  call MPI_Accumulate(values, 2, MPI_INTEGER8, target, int(8, MPI_ADDRESS_KIND), 2, MPI_INTEGER8, MPI_SUM, &
                      window ERROR
  call MPI_Win_fence(0, window ERROR
  call MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window ERROR
  call MPI_Get_accumulate(values, 2, MPI_INTEGER8, result, 2, MPI_INTEGER8, target, int(10, MPI_ADDRESS_KIND), 2, &
                          MPI_INTEGER8, MPI_SUM, window ERROR
  call MPI_Win_unlock(target, window ERROR
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window ERROR
  call MPI_Fetch_and_op(values, result, MPI_INTEGER8, target, int(12, MPI_ADDRESS_KIND), MPI_SUM, window ERROR
  call MPI_Compare_and_swap(values, result, result(2), MPI_INTEGER8, target, int(13, MPI_ADDRESS_KIND), window ERROR
  call MPI_Win_flush(target, window ERROR
  call MPI_Win_unlock(target, window ERROR
  call MPI_Barrier(MPI_COMM_WORLD ERROR
  call say('window', window_memory(2) + window_memory(9))
  call MPI_Win_free(window ERROR
end subroutine

subroutine files()
  use place
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: values(16), i, count, ierror
  character(len=1000) :: path
  HANDLE(MPI_File) :: file
  HANDLE(MPI_Request) :: request
  STATUS(status)
  path = 'mpi_traffic.out'
  if (command_argument_count() > 0) call get_command_argument(1, path)
  do i = 1, 16
    values(i) = rank * 100 + i - 1
  end do
  call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &
                     file ERROR
  call MPI_File_write_at(file, int(rank * 64, MPI_OFFSET_KIND), values, 8, MPI_INTEGER, MPI_STATUS_IGNORE ERROR
  call MPI_File_write_at_all(file, int(rank * 64 + 32, MPI_OFFSET_KIND), values(9), 8, MPI_INTEGER, status ERROR
  call MPI_Get_count(status, MPI_INTEGER, count ERROR
  call say('written', int(count, 8))
  call MPI_File_sync(file ERROR
  call MPI_Barrier(MPI_COMM_WORLD ERROR
  call MPI_File_iread_at(file, int(rank * 64, MPI_OFFSET_KIND), values, 16, MPI_INTEGER, request ERROR
  call MPI_Wait(request, MPI_STATUS_IGNORE ERROR
  call MPI_File_read_at(file, int(32, MPI_OFFSET_KIND), values, 4, MPI_INTEGER, MPI_STATUS_IGNORE ERROR
  call say('read', int(values(1), 8))
  call MPI_File_close(file ERROR
end subroutine

program traffic
  use place
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: ierror
#if defined(DIALECT_F08)
  call MPI_Init()
#else
  call MPI_Init(ierror)
#endif
  call MPI_Comm_rank(MPI_COMM_WORLD, rank ERROR
  call MPI_Comm_size(MPI_COMM_WORLD, size_of_world ERROR
  call say('size', int(size_of_world, 8))
  call point_to_point()
  call datatypes()
  call collectives()
  call communicators()
  call topologies()
  call one_sided()
  call files()
#if defined(DIALECT_F08)
  call MPI_Finalize()
#else
  call MPI_Finalize(ierror)
#endif
end program
