! Point-to-point communication; see ../point_to_point.c.
#include "dialect.h"

subroutine point_to_point()
  use shared
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, parameter :: n = 4
  integer :: i, rank, size, to, from, tag, out(n), in(n), ierror, count, index, done, indices(3), how, code, class
  integer, save :: buffer(2000)
  logical :: flag
  character(len=:), allocatable :: name
  HANDLE(MPI_Comm) :: comm
  HANDLE(MPI_Request) :: requests(3)
  HANDLE(MPI_Message) :: message
  STATUS(status)
  STATUSES(statuses, 3)
#if defined(DIALECT_F08)
  call MPI_Buffer_attach(buffer, 8000)
#else
  call MPI_Buffer_attach(buffer, 8000, ierror)
#endif
  do i = 1, intra_count + inter_count
    if (i <= intra_count) then
      comm = intra(i)
      name = trim(intra_name(i))
      call MPI_Comm_rank(comm, rank END_OF_CALL
      call MPI_Comm_size(comm, size END_OF_CALL
      to = mod(rank + 1, size)
      from = mod(rank + size - 1, size)
    else
      comm = inter(i - intra_count)
      name = trim(inter_name(i - intra_count))
      call MPI_Comm_rank(comm, rank END_OF_CALL
      to = rank
      from = rank
    end if
    tag = 0
    call blocking()
    call started()
    call probes()
    call both()
    call completions()
    call errors()
  end do
  call detach()
contains
  subroutine detach()
#if defined(DIALECT_F08)
    use iso_c_binding
    type(c_ptr) :: address
    call MPI_Buffer_detach(address, count)
#else
    integer(8) :: address ! room for whatever the library writes
    call MPI_Buffer_detach(address, count, ierror)
#endif
    call say('detached', count)
  end subroutine

  subroutine fill()
    integer :: k
    tag = tag + 1
    do k = 1, n
      out(k) = 1000 * tag + 100 * world_rank + k
    end do
    in = -1
  end subroutine

  subroutine received(what)
    character(len=*), intent(in) :: what
    call MPI_Get_count(status, MPI_INTEGER, count END_OF_CALL
    call say(name // ' ' // what, SOURCE_OF(status), TAG_OF(status), count, in(1), in(n))
  end subroutine

  subroutine blocking()
    do how = 1, 4
      call fill()
      call MPI_Irecv(in, n, MPI_INTEGER, from, tag, comm, requests(1) END_OF_CALL
      call MPI_Barrier(comm END_OF_CALL
      if (how == 1) call MPI_Send(out, n, MPI_INTEGER, to, tag, comm END_OF_CALL
      if (how == 2) call MPI_Ssend(out, n, MPI_INTEGER, to, tag, comm END_OF_CALL
      if (how == 3) call MPI_Bsend(out, n, MPI_INTEGER, to, tag, comm END_OF_CALL
      if (how == 4) call MPI_Rsend(out, n, MPI_INTEGER, to, tag, comm END_OF_CALL
      call MPI_Wait(requests(1), status END_OF_CALL
      call received('blocking send')
      call say('null', yes(requests(1) == MPI_REQUEST_NULL))
    end do
  end subroutine

  subroutine started()
    integer :: round
    do how = 1, 4
      call fill()
      call MPI_Irecv(in, n, MPI_INTEGER, MPI_ANY_SOURCE, tag, comm, requests(1) END_OF_CALL
      call MPI_Barrier(comm END_OF_CALL
      if (how == 1) call MPI_Isend(out, n, MPI_INTEGER, to, tag, comm, requests(2) END_OF_CALL
      if (how == 2) call MPI_Issend(out, n, MPI_INTEGER, to, tag, comm, requests(2) END_OF_CALL
      if (how == 3) call MPI_Ibsend(out, n, MPI_INTEGER, to, tag, comm, requests(2) END_OF_CALL
      if (how == 4) call MPI_Irsend(out, n, MPI_INTEGER, to, tag, comm, requests(2) END_OF_CALL
      call MPI_Waitall(2, requests, statuses END_OF_CALL
      call MPI_Get_count(STATUS_AT(statuses, 1), MPI_INTEGER, count END_OF_CALL
      call say(name // ' started', count, in(1), in(n))
      call fill()
      call MPI_Recv_init(in, n, MPI_INTEGER, from, MPI_ANY_TAG, comm, requests(1) END_OF_CALL
      if (how == 1) call MPI_Send_init(out, n - 1, MPI_INTEGER, to, tag, comm, requests(2) END_OF_CALL
      if (how == 2) call MPI_Ssend_init(out, n - 1, MPI_INTEGER, to, tag, comm, requests(2) END_OF_CALL
      if (how == 3) call MPI_Bsend_init(out, n - 1, MPI_INTEGER, to, tag, comm, requests(2) END_OF_CALL
      if (how == 4) call MPI_Rsend_init(out, n - 1, MPI_INTEGER, to, tag, comm, requests(2) END_OF_CALL
      do round = 1, 2
        out(1) = round
        call MPI_Start(requests(1) END_OF_CALL
        call MPI_Barrier(comm END_OF_CALL
        call MPI_Start(requests(2) END_OF_CALL
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE END_OF_CALL
        call say(name // ' persistent', in(1), in(n - 1), in(n))
      end do
      call MPI_Barrier(comm END_OF_CALL
      if (how /= 4) then
        call MPI_Startall(2, requests END_OF_CALL
        call MPI_Waitall(2, requests, statuses END_OF_CALL
      end if
      call MPI_Request_free(requests(1) END_OF_CALL
      call MPI_Request_free(requests(2) END_OF_CALL
      call say('freed', yes(requests(1) == MPI_REQUEST_NULL))
    end do
  end subroutine

  subroutine probes()
    call fill()
    call MPI_Isend(out, n, MPI_INTEGER, to, tag, comm, requests(1) END_OF_CALL
    call MPI_Probe(from, tag, comm, status END_OF_CALL
    call MPI_Get_count(status, MPI_INTEGER, count END_OF_CALL
    call say(name // ' Probe', SOURCE_OF(status), TAG_OF(status), count)
    flag = .false.
    do while (.not. flag)
      call MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, flag, status END_OF_CALL
    end do
    call MPI_Recv(in, n, MPI_INTEGER, SOURCE_OF(status), tag, comm, status END_OF_CALL
    call received('Recv')
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE END_OF_CALL
    call fill()
    call MPI_Isend(out, n, MPI_INTEGER, to, tag, comm, requests(1) END_OF_CALL
    call MPI_Mprobe(from, MPI_ANY_TAG, comm, message, status END_OF_CALL
    call MPI_Mrecv(in, n, MPI_INTEGER, message, status END_OF_CALL
    call received('Mrecv')
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE END_OF_CALL
    call fill()
    call MPI_Isend(out, n, MPI_INTEGER, to, tag, comm, requests(1) END_OF_CALL
    flag = .false.
    do while (.not. flag)
      call MPI_Improbe(from, tag, comm, flag, message, status END_OF_CALL
    end do
    call MPI_Imrecv(in, n, MPI_INTEGER, message, requests(2) END_OF_CALL
    call MPI_Wait(requests(2), status END_OF_CALL
    call received('Imrecv')
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE END_OF_CALL
  end subroutine

  subroutine both()
    call fill()
    call MPI_Sendrecv(out, n, MPI_INTEGER, to, tag, in, n, MPI_INTEGER, from, tag, comm, status END_OF_CALL
    call received('Sendrecv')
    call fill()
    in = out
    call MPI_Sendrecv_replace(in, n, MPI_INTEGER, to, tag, from, MPI_ANY_TAG, comm, status END_OF_CALL
    call received('Sendrecv_replace')
    call MPI_Sendrecv(out, n, MPI_INTEGER, MPI_PROC_NULL, tag, in, n, MPI_INTEGER, MPI_PROC_NULL, tag, comm, &
      MPI_STATUS_IGNORE END_OF_CALL
  end subroutine

  subroutine completions()
    requests = MPI_REQUEST_NULL
    do how = 1, 7
      call fill()
      call MPI_Irecv(in, n, MPI_INTEGER, from, tag, comm, requests(2) END_OF_CALL
      call MPI_Send(out, n, MPI_INTEGER, to, tag, comm END_OF_CALL
      flag = .false.
      done = 0
      index = 0
      select case (how)
      case (1)
        call MPI_Waitany(3, requests, index, status END_OF_CALL
      case (2)
        call MPI_Waitsome(3, requests, done, indices, statuses END_OF_CALL
        index = indices(1) + 10 * done
      case (3)
        do while (.not. flag)
          call MPI_Test(requests(2), flag, status END_OF_CALL
        end do
      case (4)
        do while (.not. flag)
          call MPI_Testany(3, requests, index, flag, status END_OF_CALL
        end do
      case (5)
        do while (.not. flag)
          call MPI_Testall(3, requests, flag, MPI_STATUSES_IGNORE END_OF_CALL
        end do
      case (6)
        do while (done < 1)
          call MPI_Testsome(3, requests, done, indices, statuses END_OF_CALL
        end do
        index = indices(1)
      case (7)
        do while (.not. flag)
          call MPI_Request_get_status(requests(2), flag, status END_OF_CALL
        end do
        call MPI_Wait(requests(2), MPI_STATUS_IGNORE END_OF_CALL
      end select
      call say(name // ' completed', how, index, in(1), in(n), yes(requests(2) == MPI_REQUEST_NULL))
    end do
    call MPI_Testany(3, requests, index, flag, MPI_STATUS_IGNORE END_OF_CALL
    call say('none active', yes(index == MPI_UNDEFINED), yes(flag))
    call MPI_Irecv(in, n, MPI_INTEGER, from, 30000, comm, requests(1) END_OF_CALL
    call MPI_Cancel(requests(1) END_OF_CALL
    call MPI_Wait(requests(1), status END_OF_CALL
    call MPI_Test_cancelled(status, flag END_OF_CALL
    call say('cancelled', yes(flag))
  end subroutine

  subroutine errors()
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN END_OF_CALL
    call MPI_Send(out, 1, MPI_INTEGER, 99, 0, comm, code)
    call MPI_Error_class(code, class END_OF_CALL
    call say(name // ' no such rank', yes(class == MPI_ERR_RANK))
    call MPI_Recv(in, 1, MPI_INTEGER, 0, -77, comm, MPI_STATUS_IGNORE, code)
    call MPI_Error_class(code, class END_OF_CALL
    call say(name // ' no such tag', yes(class == MPI_ERR_TAG))
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL END_OF_CALL
  end subroutine
end subroutine
