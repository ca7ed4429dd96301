/* One rank; only the main thread calls MPI, and another thread writes ten times more than ARDOISE_BUDGET can hold while
 * the main thread is busy elsewhere. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static void* work(void* nothing) {
  const int sink = open("/dev/null", O_WRONLY);
  for (int i = 0; i < 100000; ++i) {
    if (write(sink, "x", 1) != 1) break;
  }
  close(sink);
  return nothing;
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  MPI_Finalize();
  return 0;
}
