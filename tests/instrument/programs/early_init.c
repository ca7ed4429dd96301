/* MPI was initialised before main (early_init_library.c): 100 barriers. With an argument MPI ends after main. */
#include <mpi.h>

void early_init(void);

int main(int argc, char** argv) {
  (void)argv;
  early_init();
  for (int i = 0; i < 100; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (argc == 1) MPI_Finalize();
  return 0;
}
