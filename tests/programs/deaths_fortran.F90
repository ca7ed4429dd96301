! As deaths.c, in Fortran.
program deaths_fortran
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  interface
    subroutine deaths_open(path) bind(C)
      import :: c_char
      character(kind=c_char), intent(in) :: path(*)
    end subroutine
    subroutine deaths_exchanged(rank) bind(C)
      import :: c_int
      integer(c_int), value :: rank
    end subroutine
    subroutine deaths_reduced(rank) bind(C)
      import :: c_int
      integer(c_int), value :: rank
    end subroutine
    subroutine deaths_write(rank) bind(C)
      import :: c_int
      integer(c_int), value :: rank
    end subroutine
    subroutine deaths_step(rank, step) bind(C)
      import :: c_int
      integer(c_int), value :: rank, step
    end subroutine
  end interface
  character(len=4096) :: path
  integer :: rank, ranks, step, incoming, total, error

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call get_command_argument(1, path)
  call deaths_open(trim(path) // c_null_char)
  step = 0
  do
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 7, incoming, 1, MPI_INTEGER, &
                      mod(rank + ranks - 1, ranks), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call deaths_exchanged(rank)
    call deaths_write(rank)
    call deaths_step(rank, step)
    call MPI_Allreduce(incoming, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call deaths_reduced(rank)
    step = step + 1
  end do
end program
