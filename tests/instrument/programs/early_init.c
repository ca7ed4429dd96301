/* MPI was initialised before main (early_init_library.c): 100 barriers. */
#include <mpi.h>

void early_init(void);

int main(void) {
  early_init();
  for (int i = 0; i < 100; ++i) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
