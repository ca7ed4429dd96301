/* A program that is not linked to MPI: it opens the library for itself (RTLD_LOCAL) and looks everything up in it, as
 * Python's ctypes, Julia's MPI.jl and loaders in Rust do. Arguments: the MPI library, MPI's Fortran library or "", a library
 * that has an MPI_Barrier of its own. Prints what rank 0 sees; natively and under a tool it must be the same text. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI
#define OBJECT(name, handle) look_up(mpi, name)
#define INTEGER_OF(kind, handle) ((MPI_Fint(*)(void*))look_up(mpi, "MPI_" #kind "_c2f"))(handle)
typedef void* Handle;
#else
#define OBJECT(name, handle) handle
#define INTEGER_OF(kind, handle) handle
typedef int Handle;
#endif

static void* mpi;

static void* look_up(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (found == NULL) {
    printf("%s\n", dlerror());
    exit(2);
  }
  return found;
}

static const char* const kNames[] = {"MPI_Init", "MPI_Send", "PMPI_Recv", "MPI_Comm_rank", "PMPI_Comm_size", "MPI_Wtime"};
enum { kNameCount = sizeof kNames / sizeof kNames[0] };

/* The first lookups of the process come from several threads at once. */
static void* look_up_all(void* results) {
  for (int i = 0; i < kNameCount; ++i) ((void**)results)[i] = look_up(mpi, kNames[i]);
  return NULL;
}

static int threads_agree(void) {
  enum { kThreads = 4 };
  pthread_t threads[kThreads];
  static void* results[kThreads][kNameCount];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, look_up_all, results[i]);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 1; i < kThreads; ++i) {
    if (memcmp(results[i], results[0], sizeof results[0]) != 0) return 0;
  }
  return 1;
}

static const char* file_of(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0) return "nothing";
  return strrchr(info.dli_fname, '/') != NULL ? strrchr(info.dli_fname, '/') + 1 : info.dli_fname;
}

typedef int (*Allreduce)(const void*, void*, int, Handle, Handle, Handle);
typedef void (*FortranAllreduce)(const void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);

static void use_fortran(const char* path, int rank, Handle world, Handle integer, Handle add) {
  int sum, code, major, minor;
  MPI_Fint one = 1, f_world = INTEGER_OF(Comm, world), f_integer = INTEGER_OF(Type, integer), f_add = INTEGER_OF(Op, add);
  void* const fortran = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (fortran == NULL) {
    printf("%s\n", dlerror());
    exit(2);
  }
  const char* const spellings[] = {"mpi_allreduce_", "mpi_allreduce__", "MPI_ALLREDUCE", "pmpi_allreduce_"};
  for (int i = 0; i < 4; ++i) {
    ((FortranAllreduce)look_up(fortran, spellings[i]))(&rank, &sum, &one, &f_integer, &f_add, &f_world, &code);
    printf("%s %d\n", spellings[i], sum);
  }
  /* The dependencies of a library are found through it as well. */
  ((int (*)(int*, int*))look_up(fortran, "MPI_Get_version"))(&major, &minor);
  ((Allreduce)look_up(fortran, "MPI_Allreduce"))(&rank, &sum, 1, integer, add, world);
  printf("MPI_Allreduce %d through another library, MPI %d\n", sum, major);
  printf("a Fortran routine: %d", dlsym(fortran, "mpi_send_") != NULL);
  printf(", message %d\n", dlerror() != NULL);
}

int main(int argc, char** argv) {
  int rank, size, sum;
  if (argc < 4) return 2;
  mpi = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void* const other = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
  if (mpi == NULL || other == NULL) {
    printf("%s\n", dlerror());
    return 2;
  }
  const int agree = threads_agree();
  ((int (*)(int*, char***))look_up(mpi, "MPI_Init"))(&argc, &argv);
  const Handle world = OBJECT("ompi_mpi_comm_world", MPI_COMM_WORLD);
  const Handle integer = OBJECT("ompi_mpi_int", MPI_INT);
  const Handle add = OBJECT("ompi_mpi_op_sum", MPI_SUM);
  ((int (*)(Handle, int*))look_up(mpi, "MPI_Comm_rank"))(world, &rank);
  ((int (*)(Handle, int*))look_up(mpi, "MPI_Comm_size"))(world, &size);
  if (rank != 0) freopen("/dev/null", "w", stdout);
  printf("threads agree %d, world of %d\n", agree, size);

  ((Allreduce)look_up(mpi, "MPI_Allreduce"))(&rank, &sum, 1, integer, add, world);
  printf("MPI_Allreduce %d\n", sum);
  ((Allreduce)look_up(mpi, "PMPI_Allreduce"))(&rank, &sum, 1, integer, add, world);
  printf("PMPI_Allreduce %d\n", sum);
  if (argv[2][0] != '\0') use_fortran(argv[2], rank, world, integer, add);

  printf("MPI_Barrier of another library: %s\n", file_of(look_up(other, "MPI_Barrier")));
  printf("its answer: %d\n", ((int (*)(Handle))look_up(other, "MPI_Barrier"))(world));
  printf("getpid by version: %d\n", dlvsym(RTLD_DEFAULT, "getpid", "GLIBC_2.2.5") == dlsym(RTLD_DEFAULT, "getpid"));
  printf("no such function: %d", dlsym(mpi, "MPI_Nosuch") == NULL);
  const char* const message = dlerror();
  printf(", message %d", message != NULL && strstr(message, "MPI_Nosuch") != NULL);
  printf(", again %d\n", dlerror() != NULL);
  printf("a function: %d", dlsym(mpi, "MPI_Send") != NULL);
  printf(", message %d\n", dlerror() != NULL);
  printf("no such version: %d", dlvsym(mpi, "MPI_Send", "NOSUCH_1.0") == NULL);
  printf(", message %d\n", dlerror() != NULL);
  fflush(stdout);
  ((int (*)(void))look_up(mpi, "MPI_Finalize"))();
  return 0;
}
