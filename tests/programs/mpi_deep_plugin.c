/* A plug-in that is linked to MPI and brings a function of its own whose name its host has, too: opened with
 * RTLD_DEEPBIND it calls its own. */
#include <mpi.h>

int answer(void);
int answer(void) { return 2; }

/* Addresses that the loader writes into read-only data and into the table of calls. */
static int (*const volatile kSize)(MPI_Comm, int*) = MPI_Comm_size;

void plugin_start(int* argc, char*** argv);
void plugin_start(int* argc, char*** argv) { MPI_Init(argc, argv); }

/* Size of the world by either way, sum of its ranks, who answers, and the rank. */
void plugin_look(int seen[5]);
void plugin_look(int seen[5]) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  seen[4] = rank;
  MPI_Comm_size(MPI_COMM_WORLD, &seen[0]);
  kSize(MPI_COMM_WORLD, &seen[1]);
  MPI_Allreduce(&rank, &seen[2], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  seen[3] = answer();
}

void plugin_end(void);
void plugin_end(void) { MPI_Finalize(); }
