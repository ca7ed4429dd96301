/* Spends known shares of its time in known functions (truth_functions.c); writes the truth into $TEST_DIRECTORY/truth:
 * a line "function <name> <offset in its module> <share in percent>" for each, and "cpu <ns>" that the thread used
 * between MPI_Init and MPI_Finalize. Argument: rounds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "truth_spin.h"
#include "truth_tell.h"

void truth_half(int);
void truth_third(int);
void truth_fortran(const int*);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long long begin = cpu_ns();
  const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  char path[4096];
  snprintf(path, sizeof(path), "%s/libtruth_late.so", getenv("PROGRAM_DIRECTORY"));
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 2;
  void (*late)(int);
  *(void**)&late = dlsym(library, "truth_late");
  truth_run(rounds, late, NULL);

  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof(path), "%s/truth.%d", getenv("TEST_DIRECTORY"), rank);
  FILE* file = fopen(path, "w");
  if (file == NULL) return 4;
  tell(file, "truth_half", (void*)truth_half, kTruthHalf);
  tell(file, "truth_third", (void*)truth_third, kTruthThird);
  tell(file, "truth_late", (void*)late, kTruthLate);
  tell(file, "truth_fortran", (void*)truth_fortran, kTruthFortran);
  fprintf(file, "cpu %lld\n", cpu_ns() - begin);
  fclose(file);
  MPI_Finalize();
  return 0;
}
