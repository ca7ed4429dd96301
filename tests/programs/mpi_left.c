/* The first thread leaves by pthread_exit before MPI_Init; another one calls MPI for a second, and ends the process.
 * /proc shows the process itself as one that has ended. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_t first;

static void* work(void* none) {
  (void)none;
  pthread_join(first, NULL);
  int level, one = 1;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
  for (int i = 0; i < 100; ++i) {
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    usleep(10000);
  }
  MPI_Finalize();
  exit(one == 1 ? 0 : 1);
}

int main(void) {
  pthread_t other;
  first = pthread_self();
  if (pthread_create(&other, NULL, work, NULL) != 0) return 2;
  pthread_exit(NULL);
}
