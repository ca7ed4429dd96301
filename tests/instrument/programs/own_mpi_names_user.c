/* A program with a library that has names of MPI's Fortran routines: linked (IS_LINKED), or opened from the folder in the
 * first argument. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#ifdef IS_LINKED
int all_are_own(void);
int (*registered(void))(void);
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
#ifdef IS_LINKED
  const int result = all_are_own() && registered()() == 4242 ? 0 : 3;
#else
  char path[4096];
  snprintf(path, sizeof path, "%s/libown_mpi_names.so", argv[1]);
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 2;
  int (*(*const get)(void))(void) = (int (*(*)(void))(void))dlsym(library, "registered");
  const int result = ((int (*)(void))dlsym(library, "all_are_own"))() && get()() == 4242 ? 0 : 3;
#endif
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return result;
}
