/* Threads that live for a moment, one after another and many at once: usage mpi_short_threads ONE_BY_ONE WAVES. Each
   exchanges a message with its own process and writes ten bytes; prints how many there were. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define IN_A_WAVE 40

static int nowhere;

static void* work(void* number) {
  int sent = (int)(long)number, received = -1;
  MPI_Sendrecv(&sent, 1, MPI_INT, 0, sent, &received, 1, MPI_INT, 0, sent, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  if (write(nowhere, "0123456789", 10) != 10) abort();
  return (void*)(long)(received == sent);
}

int main(int argc, char** argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE || argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  nowhere = open("/dev/null", O_WRONLY);
  const int one_by_one = atoi(argv[1]), waves = atoi(argv[2]);
  long right = 0;
  pthread_t threads[IN_A_WAVE];
  for (int i = 0; i < one_by_one + waves; ++i) {
    const int count = i < one_by_one ? 1 : IN_A_WAVE;
    for (int t = 0; t < count; ++t) {
      if (pthread_create(&threads[t], NULL, work, (void*)(long)t) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (int t = 0; t < count; ++t) {
      void* result = NULL;
      pthread_join(threads[t], &result);
      right += (long)result;
    }
  }
  if (rank == 0) printf("%ld threads\n", right);
  close(nowhere);
  MPI_Finalize();
  return 0;
}
