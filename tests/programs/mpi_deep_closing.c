/* One thread opens and closes a plug-in with RTLD_DEEPBIND while two others open and close further ones without.
 * Arguments: three plug-ins. Prints what rank 0 sees. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int ends;

static void* open_others(void* path) {
  while (!ends) {
    void* const library = dlopen(path, RTLD_LAZY);
    if (library == NULL || dlclose(library) != 0) return path;
  }
  return NULL;
}

int main(int argc, char** argv) {
  int level, rank, faults = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, open_others, argv[argc - 2 + i]);
  for (int i = 0; i < 300; ++i) {
    void* const library = dlopen(argv[1], RTLD_LAZY | RTLD_DEEPBIND);
    faults += library == NULL || dlclose(library) != 0;
  }
  ends = 1;
  for (int i = 0; i < 2; ++i) {
    void* fault;
    pthread_join(threads[i], &fault);
    faults += fault != NULL;
  }
  if (rank == 0) printf("%d faults\n", faults);
  MPI_Finalize();
  return faults != 0;
}
