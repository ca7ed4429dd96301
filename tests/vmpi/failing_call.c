/* Preloaded ahead of libvmpi: the first call of the function that FAILING_CALL names does its work and returns an error
 * on the process with the rank FAILING_RANK of the launch. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int outcome(int result, const char* name, int* calls) {
  const char *const call = getenv("FAILING_CALL"), *const rank = getenv("FAILING_RANK");
  int own = -1;
  if (call == NULL || rank == NULL || strcmp(call, name) != 0 || (*calls)++ > 0) return result;
  PMPI_Comm_rank(MPI_COMM_WORLD, &own);
  return own == atoi(rank) ? MPI_ERR_OTHER : result;
}

#define FAILING(function, parameters, arguments)                                      \
  int P##function parameters {                                                        \
    static int calls;                                                                 \
    int(*const next) parameters = (int(*) parameters)dlsym(RTLD_NEXT, "P" #function); \
    return outcome(next arguments, #function, &calls);                                \
  }

FAILING(MPI_Allgather,
        (const void* sent, int count, MPI_Datatype type, void* received, int each, MPI_Datatype of, MPI_Comm comm),
        (sent, count, type, received, each, of, comm))
FAILING(MPI_Allgatherv,
        (const void* sent, int count, MPI_Datatype type, void* received, const int* each, const int* at,
         MPI_Datatype of, MPI_Comm comm),
        (sent, count, type, received, each, at, of, comm))
FAILING(MPI_Comm_split, (MPI_Comm comm, int colour, int key, MPI_Comm* made), (comm, colour, key, made))
FAILING(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
