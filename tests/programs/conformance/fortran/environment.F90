! The environment: error handlers and the communicators that they are handed, classes, time; see ../environment.c.
#include "dialect.h"

module error_callbacks
  USE_HANDLES
  implicit none
  HANDLE(MPI_Comm) :: handled
  integer :: calls = 0
contains
  subroutine on_error(comm, code)
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_Comm) :: comm
    integer :: code, class, ierror, size
    call MPI_Error_class(code, class, ierror)
    call MPI_Comm_size(comm, size, ierror)
    call say('handler', class, yes(comm == handled), yes(comm == MPI_COMM_WORLD), size)
    calls = calls + 1
  end subroutine

  subroutine on_window_error(window, code)
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_Win) :: window
    integer :: code, class, ierror
    call MPI_Error_class(code, class, ierror)
    call say('handler of the window', class)
  end subroutine

  subroutine on_file_error(file, code)
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_File) :: file
    integer :: code, class, ierror
    call MPI_Error_class(code, class, ierror)
    call say('handler of files', class)
  end subroutine
end module

subroutine environment()
  use shared
  use error_callbacks
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: i, ierror, version, subversion, length, provided, class, code, back
  logical :: flag
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
  character(len=MPI_MAX_PROCESSOR_NAME) :: processor
  character(len=MPI_MAX_ERROR_STRING) :: text
  HANDLE(MPI_Errhandler) :: handler
  call MPI_Get_version(version, subversion END_OF_CALL
  call MPI_Get_library_version(library, length END_OF_CALL
  call MPI_Get_processor_name(processor, length END_OF_CALL
  call say_text(processor(1:length), library(1:20))
  call say('version', version, subversion)
  call MPI_Initialized(flag END_OF_CALL
  call say('initialised', yes(flag))
  call MPI_Query_thread(provided END_OF_CALL
  call MPI_Is_thread_main(flag END_OF_CALL
  call say('threads', provided, yes(flag))
  call say('time', yes(MPI_Wtime() <= MPI_Wtime()), yes(MPI_Wtick() > 0))
  call MPI_Comm_create_errhandler(on_error, handler END_OF_CALL
  do i = 1, intra_count
    call say_text('on', trim(intra_name(i)))
    call handlers(intra(i))
  end do
  do i = 1, inter_count
    call say_text('on', trim(inter_name(i)))
    call handlers(inter(i))
  end do
  handled = MPI_COMM_WORLD
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler END_OF_CALL
  call MPI_Group_size(MPI_GROUP_NULL, i, ierror)
  call MPI_Type_size(MPI_DATATYPE_NULL, i, ierror)
  call MPI_Comm_size(MPI_COMM_NULL, i, ierror)
  call say('calls', calls)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL END_OF_CALL
  call MPI_Errhandler_free(handler END_OF_CALL
  call MPI_Add_error_class(class END_OF_CALL
  call MPI_Add_error_code(class, code END_OF_CALL
  call MPI_Add_error_string(code, 'cell 7 left the domain' END_OF_CALL
  call MPI_Error_class(code, back END_OF_CALL
  call MPI_Error_string(code, text, length END_OF_CALL
  call say_text('own', text(1:length))
  call say('class', yes(class == back))
  call windows_and_files()
contains
  subroutine handlers(comm)
    HANDLE(MPI_Comm) :: comm, made
    HANDLE(MPI_Errhandler) :: current
    integer :: value
    value = 0
    handled = comm
    call MPI_Comm_get_errhandler(comm, current END_OF_CALL
    call say('fatal at first', yes(current == MPI_ERRORS_ARE_FATAL))
    call MPI_Comm_set_errhandler(comm, handler END_OF_CALL
    call MPI_Comm_get_errhandler(comm, current END_OF_CALL
    call say('ours', yes(current == handler))
    call MPI_Errhandler_free(current END_OF_CALL
    call MPI_Send(value, 1, MPI_INTEGER, 1000, 0, comm, ierror)
    call MPI_Send(value, -1, MPI_INTEGER, 0, 0, comm, ierror)
    call MPI_Send(value, 1, MPI_INTEGER, 0, -5, comm, ierror)
    call MPI_Bcast(value, 1, MPI_INTEGER, 1000, comm, ierror)
    call MPI_Comm_call_errhandler(comm, MPI_ERR_INTERN, ierror)
    call MPI_Comm_dup(comm, made END_OF_CALL
    handled = made
    call MPI_Comm_call_errhandler(made, MPI_ERR_ARG, ierror)
    call MPI_Comm_free(made END_OF_CALL
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN END_OF_CALL
    call MPI_Send(value, 1, MPI_INTEGER, 1000, 0, comm, ierror)
    call say('returned', yes(ierror /= MPI_SUCCESS))
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL END_OF_CALL
  end subroutine

  subroutine windows_and_files()
    HANDLE(MPI_Errhandler) :: of_windows, of_files
    HANDLE(MPI_Win) :: window
    HANDLE(MPI_File) :: file
    integer :: cell
    integer(MPI_ADDRESS_KIND) :: bytes
    call MPI_Win_create_errhandler(on_window_error, of_windows END_OF_CALL
    bytes = 4
    call MPI_Win_create(cell, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, window END_OF_CALL
    call MPI_Win_set_errhandler(window, of_windows END_OF_CALL
    call MPI_Win_call_errhandler(window, MPI_ERR_ARG END_OF_CALL
    call MPI_Win_free(window END_OF_CALL
    call MPI_Errhandler_free(of_windows END_OF_CALL
    call MPI_File_create_errhandler(on_file_error, of_files END_OF_CALL
    call MPI_File_set_errhandler(MPI_FILE_NULL, of_files END_OF_CALL
    call MPI_File_open(MPI_COMM_WORLD, path_of('missing/file'), MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
    call say('no such file', yes(ierror /= MPI_SUCCESS))
    call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN END_OF_CALL
    call MPI_Errhandler_free(of_files END_OF_CALL
  end subroutine
end subroutine
