! Receives, probes, tests and waits whose outcome depends on timing, from Fortran: prints what rank 0 saw, in one number.
! mpi_races_DIALECT ROUNDS
program races
#if defined DIALECT_F08
  use mpi_f08
#elif defined DIALECT_MPI
  use mpi
#endif
  implicit none
#if defined DIALECT_MPIF
  include 'mpif.h'
#endif
#if defined DIALECT_F08
  type(MPI_Request) :: requests(4), persistent, sends(2)
  type(MPI_Status) :: status, statuses(4)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#else
  integer :: requests(4), persistent, sends(2)
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#endif
  integer :: rank, ranks, ierror, rounds, round, i, n, index, count, indices(4), value, left
  integer :: values(0:4) = 0  ! with an element 0: MPI_Waitany of MPICH 4.0 counts from 0 in mpi_f08
  logical :: flag
  character(len=16) :: argument
  integer(kind=8) :: hash

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, argument)
  read (argument, *) rounds
  hash = 17
  do round = 1, rounds
    if (rank /= 0) then
      ! Eight messages for each round.
      do i = 1, 8
        value = rank * 1000 + i
        call MPI_Isend(value, 1, MPI_INTEGER, 0, mod(i, 3), MPI_COMM_WORLD, sends(1), ierror)
        call MPI_Wait(sends(1), MPI_STATUS_IGNORE, ierror)
      end do
    else
      do n = 1, ranks - 1
        call MPI_Recv(value, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
        call see(SOURCE_OF(status)); call see(TAG_OF(status)); call see(value)
        flag = .false.
        do while (.not. flag)
          call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, flag, status, ierror)
          call see(merge(1, 0, flag))
        end do
        call MPI_Recv(value, 1, MPI_INTEGER, SOURCE_OF(status), TAG_OF(status), MPI_COMM_WORLD, status, ierror)
        call see(value)
        ! A persistent receive from anywhere.
        call MPI_Recv_init(value, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, persistent, ierror)
        do i = 1, 2
          call MPI_Start(persistent, ierror)
          flag = .false.
          do while (.not. flag)
            call MPI_Test(persistent, flag, status, ierror)
            call see(merge(1, 0, flag))
          end do
          call see(SOURCE_OF(status)); call see(value)
        end do
        call MPI_Request_free(persistent, ierror)
        ! Four at once.
        do i = 1, 4
          call MPI_Irecv(values(i), 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests(i), ierror)
        end do
        call MPI_Waitany(4, requests, index, status, ierror)
        call see(index); call see(SOURCE_OF(status)); call see(values(index))
        left = 3
        do while (left > 0)
          if (mod(round, 2) == 0) then
            call MPI_Testsome(4, requests, count, indices, statuses, ierror)
          else
            call MPI_Waitsome(4, requests, count, indices, statuses, ierror)
          end if
          call see(count)
          do i = 1, count
            call see(indices(i)); call see(values(indices(i)))
          end do
          left = left - count
        end do
        do i = 1, 4
          call see(values(i))
        end do
      end do
    end if
  end do
  if (rank == 0) print '(A,Z16.16)', 'hash ', hash
  call MPI_Finalize(ierror)

contains

  subroutine see(what)
    integer, intent(in) :: what
    hash = ieor(hash, int(what, 8) + 40503_8)
    hash = ieor(ishft(hash, 13), ieor(ishft(hash, -7), hash * 3_8))
  end subroutine
end program
