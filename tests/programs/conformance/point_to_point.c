/* Point-to-point communication: every way to send and to receive, probes, completions, persistent requests. */
#include <stdlib.h>

#include "conformance.h"

enum { kCount = 4 };

static const char* where;
static MPI_Comm comm;
static int rank, to, from, tag;
static int out[kCount], in[kCount];

/* The message that arrived, and its source. */
static void received(const char* how, const MPI_Status* status) {
  int count = -1, cancelled = -1;
  MPI_Get_count(status, MPI_INT, &count);
  MPI_Test_cancelled(status, &cancelled);
  say("%s %s: source %d tag %d count %d cancelled %d data %d %d", where, how, status->MPI_SOURCE, status->MPI_TAG,
      count, cancelled, in[0], in[kCount - 1]);
  for (int i = 0; i < kCount; ++i) in[i] = -1;
}

static void fill(void) {
  ++tag;
  for (int i = 0; i < kCount; ++i) out[i] = 1000 * tag + 100 * world_rank + i;
}

typedef int (*Start)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static void sends(void) {
  static const struct {
    const char* name;
    int (*call)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
  } blocking[] = {{"Send", MPI_Send}, {"Ssend", MPI_Ssend}, {"Bsend", MPI_Bsend}, {"Rsend", MPI_Rsend}};
  static const struct {
    const char* name;
    Start call, init;
  } started[] = {{"Isend", MPI_Isend, MPI_Send_init},
                 {"Issend", MPI_Issend, MPI_Ssend_init},
                 {"Ibsend", MPI_Ibsend, MPI_Bsend_init},
                 {"Irsend", MPI_Irsend, MPI_Rsend_init}};
  MPI_Request requests[2];
  MPI_Status statuses[2];
  for (int i = 0; i < 4; ++i) {
    fill();
    MPI_Irecv(in, kCount, MPI_INT, from, tag, comm, &requests[0]);
    MPI_Barrier(comm); /* a ready send needs its receive */
    blocking[i].call(out, kCount, MPI_INT, to, tag, comm);
    MPI_Wait(&requests[0], &statuses[0]);
    received(blocking[i].name, &statuses[0]);
    say("%s null %d", where, requests[0] == MPI_REQUEST_NULL);
  }
  for (int i = 0; i < 4; ++i) {
    fill();
    MPI_Irecv(in, kCount, MPI_INT, MPI_ANY_SOURCE, tag, comm, &requests[0]);
    MPI_Barrier(comm);
    started[i].call(out, kCount, MPI_INT, to, tag, comm, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    received(started[i].name, &statuses[0]);
    fill();
    MPI_Recv_init(in, kCount, MPI_INT, from, MPI_ANY_TAG, comm, &requests[0]);
    started[i].init(out, kCount - 1, MPI_INT, to, tag, comm, &requests[1]);
    for (int round = 0; round < 2; ++round) {
      out[0] = round;
      MPI_Start(&requests[0]);
      MPI_Barrier(comm);
      MPI_Start(&requests[1]);
      MPI_Waitall(2, requests, statuses);
      received("persistent", &statuses[0]);
    }
    MPI_Barrier(comm);
    if (i != 3) { /* a ready send must not come before its receive */
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, statuses);
      received("persistent, all started", &statuses[0]);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    say("%s freed %d", where, requests[0] == MPI_REQUEST_NULL);
  }
}

static void probes(void) {
  MPI_Request requests[2];
  MPI_Message message;
  MPI_Status status;
  int flag = 0, count;
  fill();
  MPI_Isend(out, kCount, MPI_INT, to, tag, comm, &requests[0]);
  MPI_Probe(from, tag, comm, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  say("%s Probe: source %d tag %d count %d", where, status.MPI_SOURCE, status.MPI_TAG, count);
  while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &flag, &status);
  say("%s Iprobe: source %d", where, status.MPI_SOURCE);
  MPI_Recv(in, kCount, MPI_INT, status.MPI_SOURCE, tag, comm, &status);
  received("Recv", &status);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  fill();
  MPI_Isend(out, kCount, MPI_INT, to, tag, comm, &requests[0]);
  MPI_Mprobe(from, MPI_ANY_TAG, comm, &message, &status);
  say("%s Mprobe: tag %d", where, status.MPI_TAG);
  MPI_Mrecv(in, kCount, MPI_INT, &message, &status);
  received("Mrecv", &status);
  say("%s message null %d", where, message == MPI_MESSAGE_NULL);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  fill();
  MPI_Isend(out, kCount, MPI_INT, to, tag, comm, &requests[0]);
  for (flag = 0; !flag;) MPI_Improbe(from, tag, comm, &flag, &message, &status);
  say("%s Improbe: source %d", where, status.MPI_SOURCE);
  MPI_Imrecv(in, kCount, MPI_INT, &message, &requests[1]);
  MPI_Wait(&requests[1], &status);
  received("Imrecv", &status);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Mprobe(MPI_PROC_NULL, 3, comm, &message, &status);
  say("%s from nobody: %d source %d tag %d", where, message == MPI_MESSAGE_NO_PROC, status.MPI_SOURCE == MPI_PROC_NULL,
      status.MPI_TAG == MPI_ANY_TAG);
  MPI_Mrecv(in, kCount, MPI_INT, &message, &status);
  received("Mrecv from nobody", &status);
}

static void both(void) {
  MPI_Status status;
  fill();
  MPI_Sendrecv(out, kCount, MPI_INT, to, tag, in, kCount, MPI_INT, from, tag, comm, &status);
  received("Sendrecv", &status);
  fill();
  for (int i = 0; i < kCount; ++i) in[i] = out[i];
  MPI_Sendrecv_replace(in, kCount, MPI_INT, to, tag, from, MPI_ANY_TAG, comm, &status);
  received("Sendrecv_replace", &status);
  MPI_Sendrecv(out, kCount, MPI_INT, MPI_PROC_NULL, tag, in, kCount, MPI_INT, MPI_PROC_NULL, tag, comm, &status);
  received("Sendrecv with nobody", &status);
}

/* Every completion function on messages whose order is known because each is completed alone. */
static void completions(void) {
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL}, sent;
  MPI_Status status, statuses[3];
  int flag, index, done, indices[3];
  for (int how = 0; how < 9; ++how) {
    fill();
    MPI_Irecv(in, kCount, MPI_INT, from, tag, comm, &requests[1]);
    MPI_Isend(out, kCount, MPI_INT, to, tag, comm, &sent);
    flag = index = done = 0;
    switch (how) {
      case 0:
        MPI_Waitany(3, requests, &index, &status);
        break;
      case 1:
        MPI_Waitsome(3, requests, &done, indices, statuses);
        index = indices[0] + 10 * done;
        status = statuses[0];
        break;
      case 2:
        while (!flag) MPI_Test(&requests[1], &flag, &status);
        break;
      case 3:
        while (!flag) MPI_Testany(3, requests, &index, &flag, &status);
        break;
      case 4:
        while (!flag) MPI_Testall(3, requests, &flag, statuses);
        status = statuses[1];
        break;
      case 5:
        while (done < 1) MPI_Testsome(3, requests, &done, indices, statuses);
        index = indices[0];
        status = statuses[0];
        break;
      case 6:
        while (!flag) MPI_Request_get_status(requests[1], &flag, &status);
        say("%s still there %d", where, requests[1] != MPI_REQUEST_NULL);
        MPI_Wait(&requests[1], &status);
        break;
      case 7:
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        status.MPI_SOURCE = status.MPI_TAG = -7;
        say("%s ignored: %d", where, in[1]);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
        continue;
      default:
        MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
        say("%s ignored: %d at %d", where, in[1], index);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
        continue;
    }
    say("%s completion %d: index %d", where, how, index);
    received("completed", &status);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
  MPI_Waitany(3, requests, &index, &status);
  MPI_Testany(3, requests, &done, &flag, &status);
  say("%s none active: %d %d %d", where, index == MPI_UNDEFINED, done == MPI_UNDEFINED, flag);
  MPI_Waitsome(3, requests, &done, indices, statuses);
  say("%s none of some: %d", where, done == MPI_UNDEFINED);
  MPI_Irecv(in, kCount, MPI_INT, from, 30000, comm, &requests[0]); /* never sent */
  MPI_Cancel(&requests[0]);
  MPI_Wait(&requests[0], &status);
  MPI_Test_cancelled(&status, &flag);
  say("%s cancelled %d", where, flag);
}

static void truncated(void) {
  MPI_Status status;
  MPI_Request request;
  int class;
  fill();
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Isend(out, kCount, MPI_INT, to, tag, comm, &request);
  MPI_Error_class(MPI_Recv(in, 2, MPI_INT, from, tag, comm, &status), &class);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  say("%s too long: %d", where, class == MPI_ERR_TRUNCATE);
  MPI_Error_class(MPI_Send(out, 1, MPI_INT, 99, 0, comm), &class);
  say("%s no such rank: %d", where, class == MPI_ERR_RANK);
  MPI_Error_class(MPI_Recv(in, 1, MPI_INT, 0, -77, comm, &status), &class);
  say("%s no such tag: %d", where, class == MPI_ERR_TAG);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

void point_to_point(void) {
  static char buffer[4096 + MPI_BSEND_OVERHEAD];
  void* detached;
  int size;
  MPI_Buffer_attach(buffer, sizeof buffer);
  for (int i = 0; i < kIntra + kInter; ++i) {
    const Named* const named = i < kIntra ? &intra[i] : &inter[i - kIntra];
    where = named->name;
    comm = named->comm;
    MPI_Comm_rank(comm, &rank);
    if (i < kIntra) {
      MPI_Comm_size(comm, &size);
      to = (rank + 1) % size;
      from = (rank + size - 1) % size;
    } else {
      to = from = rank; /* the one in the other group */
    }
    tag = 0;
    sends();
    probes();
    both();
    completions();
    truncated();
  }
  MPI_Buffer_detach(&detached, &size);
  say("detached the same %d bytes: %d", size, detached == (void*)buffer);
}
