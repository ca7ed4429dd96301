/* Every process prints the variables of the launch, before MPI_Init and after it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const char* const kNames[] = {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS",
                                     "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                                     "OMPI_COMM_WORLD_LOCAL_SIZE",
                                     /* Ardoise's own, removed after MPI_Init. */
                                     "VMPI_OWN_RANKS", "VMPI_PARTITION_NAME", "VMPI_PARTITION_CONTEXTS",
                                     "VMPI_SLOTS_SUFFICE"};
enum { kCount = sizeof kNames / sizeof kNames[0], kOwn = kCount - 4 };

static const char* value_of(int i) { return getenv(kNames[i]) != NULL ? getenv(kNames[i]) : "-"; }

int main(int argc, char** argv) {
  int rank;
  char before[kCount][32];
  for (int i = 0; i < kCount; ++i) snprintf(before[i], sizeof before[i], "%s", value_of(i));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < kCount; ++i) {
    if (i < kOwn) printf("%d: %s %s %s\n", rank, kNames[i], before[i], value_of(i));
    if (i >= kOwn) printf("%d: %s %s\n", rank, kNames[i], value_of(i));
  }
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
