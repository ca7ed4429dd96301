/* Queries by the ten thousand, from two places and two threads: mpi_queries <calls>. Rank 0 prints the answers. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long calls;

static void* ask_sizes(void* sum) {
  for (long i = 0; i < calls; ++i) {
    int size;
    MPI_Type_size(MPI_INT, &size);
    *(long*)sum += size;
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided, rank, size;
  long sizes = 0, others = 0, ranks = 0;
  pthread_t other;
  calls = argc > 1 ? atol(argv[1]) : 1000;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  pthread_create(&other, NULL, ask_sizes, &others);
  ask_sizes(&sizes);
  for (long i = 0; i < calls; ++i) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ranks += rank;
  }
  pthread_join(other, NULL);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) printf("%d processes: sizes %ld and %ld, ranks %ld\n", size, sizes, others, ranks);
  MPI_Finalize();
  return 0;
}
