! conformance_<dialect> <folder> [chapter]: runs all chapters, or the one named, in one MPI_Init. Needs four processes.
#include "dialect.h"

program conformance
  use shared
  USE_MPI
  implicit none
  INCLUDE_MPI
  external :: point_to_point, datatypes, collectives, communicators, attributes, topologies, environment, info_objects, &
    one_sided, io
  integer :: ierror, provided
  logical :: flag
  call MPI_Initialized(flag END_OF_CALL
  call say('initialised before', yes(flag))
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, world_rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, world_size, ierror)
  if (world_size /= 4) then
    if (world_rank == 0) print '(a)', 'conformance: run me with 4 processes'
    call MPI_Finalize(ierror)
    stop 2
  end if
  if (command_argument_count() > 0) call get_command_argument(1, folder)
  call say('success, thread level', ierror, provided)
  call print_lines('start')
  call chapter('point to point', point_to_point)
  call chapter('datatypes', datatypes)
  call chapter('collectives', collectives)
  call chapter('communicators', communicators)
  call chapter('attributes', attributes)
  call chapter('topologies', topologies)
  call chapter('environment', environment)
  call chapter('info', info_objects)
  call chapter('one sided', one_sided)
  call chapter('io', io)
  call MPI_Finalize(ierror)
  call MPI_Finalized(flag END_OF_CALL
  if (world_rank == 0) print '(a,i0,1x,i0)', 'finalised: ', yes(flag), ierror
contains
  subroutine chapter(name, run)
    character(len=*), intent(in) :: name
    external :: run
    character(len=40) :: wanted
    if (command_argument_count() > 1) then
      call get_command_argument(2, wanted)
      if (wanted /= name) return
    end if
    call make_communicators()
    call run()
    call free_communicators()
    call print_lines(name)
  end subroutine
end program
