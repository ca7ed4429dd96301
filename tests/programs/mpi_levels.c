/* MPI by the rules of a thread level, with threads that also do POSIX I/O: mpi_levels <funneled|serialized|multiple>
 * <rounds>. Each of three threads makes `rounds` writes of 100 bytes. Each thread that may calls MPI_Sendrecv (8 bytes to the next
 * process) in every round on a communicator of its own: the main thread alone, the threads one at a time, or all at once.
 * A counter preloaded behind a tool (mpi_callers.c) is told when a thread of the program is inside MPI. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kThreads = 3 };

void mpi_callers_inside(int is_inside) __attribute__((weak));

static int level, rounds, rank, size, sink;
static MPI_Comm communicators[kThreads];
static long sums[kThreads];
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void exchange(int thread, int round) {
  long sent = rank + round, got = -1;
  if (level == MPI_THREAD_SERIALIZED) pthread_mutex_lock(&one_at_a_time);
  if (mpi_callers_inside != NULL) mpi_callers_inside(1);
  if (level == MPI_THREAD_SERIALIZED) {
    /* Blocking would keep the others of this process from theirs: post, and look again later. */
    MPI_Request requests[2];
    int done = 0;
    MPI_Irecv(&got, 1, MPI_LONG, (rank + size - 1) % size, 3, communicators[thread], &requests[0]);
    MPI_Isend(&sent, 1, MPI_LONG, (rank + 1) % size, 3, communicators[thread], &requests[1]);
    for (;;) {
      MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
      if (done) break;
      if (mpi_callers_inside != NULL) mpi_callers_inside(0);
      pthread_mutex_unlock(&one_at_a_time);
      sched_yield();
      pthread_mutex_lock(&one_at_a_time);
      if (mpi_callers_inside != NULL) mpi_callers_inside(1);
    }
  } else {
    MPI_Sendrecv(&sent, 1, MPI_LONG, (rank + 1) % size, 3, &got, 1, MPI_LONG, (rank + size - 1) % size, 3,
                 communicators[thread], MPI_STATUS_IGNORE);
  }
  if (mpi_callers_inside != NULL) mpi_callers_inside(0);
  if (level == MPI_THREAD_SERIALIZED) pthread_mutex_unlock(&one_at_a_time);
  sums[thread] += got;
}

static void* work(void* argument) {
  static const char block[100];
  const int thread = (int)(long)argument;
  for (int i = 0; i < rounds; ++i) {
    if (level != MPI_THREAD_FUNNELED) exchange(thread, i);
    if (write(sink, block, sizeof block) != (ssize_t)sizeof block) abort();
  }
  return NULL;
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  pthread_t threads[kThreads];
  int provided;
  long sum = 0;
  rounds = argc > 2 ? atoi(argv[2]) : 100;
  level = strcmp(name, "funneled") == 0     ? MPI_THREAD_FUNNELED
          : strcmp(name, "serialized") == 0 ? MPI_THREAD_SERIALIZED
                                            : MPI_THREAD_MULTIPLE;
  MPI_Init_thread(&argc, &argv, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &communicators[i]);
  sink = open("/dev/null", O_WRONLY);
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; level == MPI_THREAD_FUNNELED && i < rounds; ++i) exchange(0, i);
  /* All threads first: while one of them may be inside MPI, only MPI_THREAD_MULTIPLE lets this one call it. */
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) {
    sum += sums[i];
    MPI_Comm_free(&communicators[i]);
  }
  close(sink);
  if (rank == 0) printf("%s of %d: sum %ld, level %d\n", name, size, sum, provided == level);
  MPI_Finalize();
  return 0;
}
