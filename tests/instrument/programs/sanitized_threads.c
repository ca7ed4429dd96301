/* Compiled with -fsanitize=thread: a thread that begins after MPI_Init. The sanitizer ends a program that has forked, or
 * has been cloned, with several threads, if it hears of it. */
#include <mpi.h>
#include <pthread.h>

static void* work(void* counter) {
  for (int i = 0; i < 1000; ++i) ++*(long*)counter;
  return counter;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  long counter = 0;
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, &counter);
    pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return counter == 4000 ? 0 : 1;
}
