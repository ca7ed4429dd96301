! Process creation; see ../processes.c. With two processes.
#include "dialect.h"

program processes
  use shared
  USE_MPI
  implicit none
  INCLUDE_MPI
  character(len=500) :: executable, argument
  integer :: ierror
  HANDLE(MPI_Comm) :: parent
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, world_rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, world_size, ierror)
  call get_command_argument(0, executable)
  argument = ''
  if (command_argument_count() > 0) call get_command_argument(1, argument)
  call MPI_Comm_get_parent(parent END_OF_CALL
  if (argument == 'child') then
    call child()
  else if (world_size /= 2) then
    if (world_rank == 0) print '(a)', 'conformance_processes: run me with 2 processes'
  else
    call say('no parent', yes(parent == MPI_COMM_NULL))
    call spawn(MPI_COMM_WORLD, 'world')
    call connect_and_accept()
    call print_lines('processes')
  end if
  call MPI_Finalize(ierror)
contains
  subroutine child()
    HANDLE(MPI_Comm) :: merged
    integer :: seen(4), remote, total, relation
    call MPI_Comm_remote_size(parent, remote END_OF_CALL
    call MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, relation END_OF_CALL
    seen = [world_rank, world_size, remote, yes(relation == MPI_IDENT)]
    call MPI_Send(seen, 4, MPI_INTEGER, 0, 1, parent END_OF_CALL
    call MPI_Intercomm_merge(parent, .true., merged END_OF_CALL
    call MPI_Allreduce(world_rank, total, 1, MPI_INTEGER, MPI_SUM, merged END_OF_CALL
    call MPI_Comm_free(merged END_OF_CALL
    call MPI_Comm_disconnect(parent END_OF_CALL
  end subroutine

  subroutine spawn(comm, name)
    HANDLE(MPI_Comm) :: comm, inter, merged
    character(len=*), intent(in) :: name
    integer :: i, codes(4), seen(4), remote, total, counts(2)
    character(len=10) :: arguments(2), table(2, 2)
    character(len=500) :: programs(2)
    HANDLE(MPI_Info) :: infos(2)
    arguments(1) = 'child'
    arguments(2) = ' '
    call MPI_Comm_spawn(executable, arguments, 2, MPI_INFO_NULL, 0, comm, inter, codes END_OF_CALL
    call say(name // ' started', yes(codes(1) == MPI_SUCCESS), yes(codes(2) == MPI_SUCCESS))
    call MPI_Comm_remote_size(inter, remote END_OF_CALL
    do i = 0, remote - 1
      if (world_rank > 0) exit
      call MPI_Recv(seen, 4, MPI_INTEGER, i, 1, inter, MPI_STATUS_IGNORE END_OF_CALL
      call say(name // ' child', seen(1), seen(2), seen(3), seen(4))
    end do
    call MPI_Intercomm_merge(inter, .false., merged END_OF_CALL
    call MPI_Allreduce(world_rank, total, 1, MPI_INTEGER, MPI_SUM, merged END_OF_CALL
    call say(name // ' merged', total)
    call MPI_Comm_free(merged END_OF_CALL
    call MPI_Comm_disconnect(inter END_OF_CALL
    programs = executable
    counts = 1
    infos = MPI_INFO_NULL
    table(:, 1) = 'child'
    table(:, 2) = ' '
    call MPI_Comm_spawn_multiple(2, programs, table, counts, infos, 1, comm, inter, codes END_OF_CALL
    do i = 0, 1
      if (world_rank > 0) exit
      call MPI_Recv(seen, 4, MPI_INTEGER, i, 1, inter, MPI_STATUS_IGNORE END_OF_CALL
      call say(name // ' one of several', seen(1), seen(2), seen(3), seen(4))
    end do
    call MPI_Intercomm_merge(inter, .false., merged END_OF_CALL
    call MPI_Allreduce(world_rank, total, 1, MPI_INTEGER, MPI_SUM, merged END_OF_CALL
    call MPI_Comm_free(merged END_OF_CALL
    call MPI_Comm_disconnect(inter END_OF_CALL
  end subroutine

  subroutine connect_and_accept()
    character(len=MPI_MAX_PORT_NAME) :: port
    integer :: got
    HANDLE(MPI_Comm) :: inter
    port = ' '
    if (world_rank == 0) call MPI_Open_port(MPI_INFO_NULL, port END_OF_CALL
    call MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 0, MPI_COMM_WORLD END_OF_CALL
    if (world_rank == 0) call MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, inter END_OF_CALL
    if (world_rank == 1) call MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, inter END_OF_CALL
    call MPI_Sendrecv(world_rank, 1, MPI_INTEGER, 0, 3, got, 1, MPI_INTEGER, 0, 3, inter, MPI_STATUS_IGNORE END_OF_CALL
    call say('connected', got)
    call MPI_Comm_disconnect(inter END_OF_CALL
    if (world_rank == 0) call MPI_Close_port(port END_OF_CALL
  end subroutine
end program
