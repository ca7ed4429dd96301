! As mpi_marks.c, in Fortran: 20 steps with a phase, a value and a snapshot, MPI_Pcontrol before the loop.
program marks_fortran
  use mpi
  use ardoise
  implicit none
  integer :: ierror, rank, total, step
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Pcontrol(2)
  do step = 1, 20
    call ardoise_phase_begin("solve  ")
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call ardoise_phase_end("solve")
    call ardoise_value("residual", 1.0d0 / step)
    if (step <= 10) then
      call ardoise_snapshot("step", step)
    else
      call ardoise_snapshot("step", int(step, 8))
    end if
  end do
  call MPI_Finalize(ierror)
  if (rank == 0) print *, "done"
end program
