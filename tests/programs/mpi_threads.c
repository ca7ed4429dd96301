/* Threads that all call MPI at once (MPI_THREAD_MULTIPLE): each sends and receives a fixed number of messages on a
 * communicator of its own, so an observer must count exactly threads * rounds of each call. Prints the sums. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 4, kRounds = 500 };

static int rank, size;
static MPI_Comm communicators[kThreads];
static long sums[kThreads];

static void* exchange(void* argument) {
  const int thread = (int)(long)argument;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (int i = 0; i < kRounds; ++i) {
    int sent = i + thread, received = -1, total = 0;
    MPI_Request request;
    MPI_Irecv(&received, 1, MPI_INT, previous, thread, communicators[thread], &request);
    MPI_Send(&sent, 1, MPI_INT, next, thread, communicators[thread]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (i % 50 == 0) MPI_Allreduce(&received, &total, 1, MPI_INT, MPI_SUM, communicators[thread]);
    sums[thread] += received + total;
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  long sum = 0;
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (provided != MPI_THREAD_MULTIPLE) {
    if (rank == 0) printf("this MPI has no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 0;
  }
  for (long i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &communicators[i]);
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, exchange, (void*)i);
  for (long i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    sum += sums[i];
    MPI_Comm_free(&communicators[i]);
  }
  if (rank == 0) printf("sum %ld\n", sum);
  MPI_Finalize();
  return 0;
}
