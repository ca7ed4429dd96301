/* External interfaces: generalised requests, statuses filled by hand, objects' Fortran handles, MPI in threads. */
#include <pthread.h>

#include "conformance.h"

static int query(void* extra, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_INT, *(int*)extra);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = 3;
  status->MPI_TAG = 4;
  say("queried");
  return MPI_SUCCESS;
}
static int finished(void* extra) {
  say("freed with %d", *(int*)extra);
  return MPI_SUCCESS;
}
static int cancelled(void* extra, int complete) {
  say("cancelled with %d, complete %d", *(int*)extra, complete);
  return MPI_SUCCESS;
}

static void* complete(void* request) {
  MPI_Grequest_complete(*(MPI_Request*)request);
  return NULL;
}

static void generalised(void) {
  int extra = 6, count, flag;
  MPI_Request request;
  MPI_Status status;
  pthread_t thread;
  MPI_Grequest_start(query, finished, cancelled, &extra, &request);
  MPI_Test(&request, &flag, &status);
  say("complete at first %d", flag);
  pthread_create(&thread, NULL, complete, &request);
  MPI_Wait(&request, &status);
  pthread_join(thread, NULL);
  MPI_Get_count(&status, MPI_INT, &count);
  say("count %d source %d tag %d", count, status.MPI_SOURCE, status.MPI_TAG);
  MPI_Grequest_start(query, finished, cancelled, &extra, &request);
  MPI_Cancel(&request);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, &status);
}

static void statuses(void) {
  MPI_Status status = {0}, twin;
  MPI_Fint in_fortran[32];
  MPI_Count many;
  int flag, count;
  MPI_Status_set_elements_x(&status, MPI_DOUBLE, (MPI_Count)1 << 33);
  MPI_Get_elements_x(&status, MPI_DOUBLE, &many);
  say("many elements %d", many == (MPI_Count)1 << 33);
  MPI_Status_set_elements(&status, MPI_INT, 9);
  MPI_Status_set_cancelled(&status, 1);
  status.MPI_TAG = 12;
  MPI_Status_c2f(&status, in_fortran);
  MPI_Status_f2c(in_fortran, &twin);
  MPI_Test_cancelled(&twin, &flag);
  MPI_Get_elements(&twin, MPI_INT, &count);
  say("twin: cancelled %d, elements %d, tag %d", flag, count, twin.MPI_TAG);
}

static void handles(void) {
  MPI_Group group;
  MPI_Errhandler handler;
  MPI_Request request;
  MPI_Message message;
  MPI_Status status;
  int value = 5;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
  say("there and back: %d %d %d %d %d %d %d", MPI_Group_f2c(MPI_Group_c2f(group)) == group,
      MPI_Errhandler_f2c(MPI_Errhandler_c2f(handler)) == handler, MPI_Request_f2c(MPI_Request_c2f(request)) == request,
      MPI_Message_f2c(MPI_Message_c2f(message)) == message, MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM,
      MPI_Type_f2c(MPI_Type_c2f(MPI_INT)) == MPI_INT, MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
  MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
  MPI_Wait(&request, &status);
  MPI_Group_free(&group);
  MPI_Errhandler_free(&handler);
}

/* Threads on communicators of their own: sums that do not depend on their order. */
enum { kThreads = 3, kRounds = 50 };
static MPI_Comm own[kThreads];
static long sums[kThreads];
static int main_thread[kThreads];

static void* exchange(void* argument) {
  const long thread = (long)argument;
  MPI_Is_thread_main(&main_thread[thread]);
  sums[thread] = 0;
  for (int i = 0; i < kRounds; ++i) {
    int mine = world_rank + i, got = -1, all = 0;
    MPI_Sendrecv(&mine, 1, MPI_INT, (world_rank + 1) % world_size, 1, &got, 1, MPI_INT,
                 (world_rank + world_size - 1) % world_size, 1, own[thread], MPI_STATUS_IGNORE);
    if (i % 10 == 0) MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, own[thread]);
    sums[thread] += got + all;
  }
  return NULL;
}

static void threads(void) {
  pthread_t ids[kThreads];
  int provided;
  MPI_Query_thread(&provided);
  if (provided != MPI_THREAD_MULTIPLE) {
    say("no threads");
    return;
  }
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(i == 0 ? MPI_COMM_WORLD : intra[1].comm, &own[i]);
  for (long i = 0; i < kThreads; ++i) pthread_create(&ids[i], NULL, exchange, (void*)i);
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(ids[i], NULL);
    say("thread %d: main %d, sum %ld", i, main_thread[i], sums[i]);
    MPI_Comm_free(&own[i]);
  }
}

void external_interfaces(void) {
  generalised();
  statuses();
  handles();
  threads();
}
