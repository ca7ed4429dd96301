! The last rank has more work before each sum: the function that it alone calls is the cause of the others' waiting.
module work
  implicit none
  real(8) :: sink = 0
contains
  subroutine relax(steps)
    integer, intent(in) :: steps
    integer :: i
    do i = 1, steps
      sink = sink + 1 / real(i + 1, 8)
    end do
  end subroutine

  subroutine boundary(steps)
    integer, intent(in) :: steps
    integer :: i
    do i = 1, steps
      sink = sink + 1 / real(i + 2, 8)
    end do
  end subroutine
end module

program late_work
  use mpi
  use work
  implicit none
  integer :: rank, ranks, step, ierror
  real(8) :: sum
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  do step = 1, 60
    call relax(1000000)
    if (rank == ranks - 1) call boundary(4000000)
    call MPI_Allreduce(sink, sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  end do
  call MPI_Finalize(ierror)
end program
