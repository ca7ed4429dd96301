/* A library that initialises MPI when it is loaded, before main and before most other constructors, and ends it after
 * main, when other libraries have ended, unless the program did. */
#include <mpi.h>

__attribute__((constructor)) static void initialise(void) { MPI_Init(0, 0); }

__attribute__((destructor)) static void finalise(void) {
  int is_finalised = 0;
  MPI_Finalized(&is_finalised);
  if (!is_finalised) MPI_Finalize();
}

void early_init(void) {}
