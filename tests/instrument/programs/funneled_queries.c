/* Only the main thread calls MPI. Another thread makes queries that any thread may make, and writes a file, while
 * the main thread exchanges messages; then the main thread computes, so that the other one finds full bins. Debug builds
 * of the library stop when it sends from the wrong thread. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int is_over;

static void* ask(void* nothing) {
  while (!is_over) {
    int flag = 0, version = 0;
    MPI_Initialized(&flag);
    MPI_Finalized(&flag);
    MPI_Is_thread_main(&flag);
    MPI_Query_thread(&flag);
    MPI_Get_version(&version, &flag);
    MPI_Wtime();
  }
  return nothing;
}

int main(int argc, char** argv) {
  int level = 0, rank = 0, size = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  pthread_t thread;
  pthread_create(&thread, NULL, ask, NULL);
  const double begin = MPI_Wtime();
  for (int i = 0, goes_on = 1; goes_on; ++i) {
    int out = i, in = 0;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    goes_on = MPI_Wtime() - begin < 1.5;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  is_over = 1;
  pthread_join(thread, NULL);
  MPI_Finalize();
  return 0;
}
