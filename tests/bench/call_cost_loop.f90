! Times cheap MPI calls from Fortran, for call_cost: prints "function nanoseconds" for each, the shortest of many batches.
program call_cost_loop
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  include 'mpif.h'
  integer, parameter :: batches = 400, calls = 1000
  integer :: ierror, batch, i, rank, self
  integer(int64) :: first, last, rate, shortest
  real(real64) :: in, out

  call MPI_Init(ierror)
  self = MPI_COMM_SELF
  in = 1
  call system_clock(first, rate)

  shortest = huge(shortest)
  do batch = 1, batches
    call system_clock(first)
    do i = 1, calls
      call MPI_Comm_rank(self, rank, ierror)
    end do
    call system_clock(last)
    shortest = min(shortest, last - first)
  end do
  call show('MPI_Comm_rank')

  shortest = huge(shortest)
  do batch = 1, batches
    call system_clock(first)
    do i = 1, calls
      call MPI_Allreduce(in, out, 1, MPI_DOUBLE_PRECISION, MPI_SUM, self, ierror)
    end do
    call system_clock(last)
    shortest = min(shortest, last - first)
  end do
  call show('MPI_Allreduce')

  shortest = huge(shortest)
  do batch = 1, batches
    call system_clock(first)
    do i = 1, calls
      call MPI_Send(in, 1, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 0, self, ierror)
    end do
    call system_clock(last)
    shortest = min(shortest, last - first)
  end do
  call show('MPI_Send')

  call MPI_Finalize(ierror)

contains
  subroutine show(name)
    character(*), intent(in) :: name
    print '(a,1x,f0.3)', name, real(shortest, real64) / real(rate, real64) / calls * 1e9_real64
  end subroutine show
end program call_cost_loop
