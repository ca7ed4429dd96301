/* Preloaded behind Ardoise, in the place of the MPI library, so that every PMPI call passes through here, the
 * program's and Ardoise's own. Counts those of threads that may (the main thread; CALLERS_LEVEL=serialized: also a thread
 * that the program says is inside MPI) and the others; writes "<allowed> <others> <name of one of the others>" to $CALLERS_FILE.<process id> at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long allowed, others;
static const char* _Atomic offender = "none";
static _Thread_local int inside, depth;

__attribute__((visibility("default"))) void mpi_callers_inside(int is_inside) { inside = is_inside; }

/* The main thread of a serialized program makes and frees communicators while no other thread runs. */
static int may_call(void) {
  const char* const level = getenv("CALLERS_LEVEL");
  const int is_serialized = level != NULL && strcmp(level, "serialized") == 0;
  return gettid() == getpid() || (is_serialized && inside);
}

static void count(const char* name) {
  if (may_call()) {
    ++allowed;
  } else {
    ++others;
    offender = name;
  }
}

__attribute__((destructor)) static void tell(void) {
  const char* const prefix = getenv("CALLERS_FILE");
  char path[4096];
  FILE* file;
  if (prefix == NULL || allowed + others == 0) return;
  snprintf(path, sizeof path, "%s.%d", prefix, (int)getpid());
  file = fopen(path, "w");
  if (file == NULL) return;
  fprintf(file, "%ld %ld %s\n", (long)allowed, (long)others, offender);
  fclose(file);
}

/* PMPI_x: counted, unless MPI calls itself, and passed on. */
#define PASS(name, parameters, arguments)                                                \
  __attribute__((visibility("default"))) int P##name parameters {                        \
    static int(*_Atomic real) parameters;                                                \
    int code;                                                                            \
    if (real == NULL) real = (int(*) parameters)dlsym(RTLD_NEXT, "P" #name);             \
    if (depth++ == 0) count(#name);                                                      \
    code = real arguments;                                                               \
    --depth;                                                                             \
    return code;                                                                         \
  }

PASS(MPI_Send, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c))
PASS(MPI_Recv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s), (b, n, t, from, tag, c, s))
PASS(MPI_Isend, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
     (b, n, t, to, tag, c, r))
PASS(MPI_Issend, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
     (b, n, t, to, tag, c, r))
PASS(MPI_Irecv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),
     (b, n, t, from, tag, c, r))
PASS(MPI_Sendrecv,
     (const void* b, int n, MPI_Datatype t, int to, int tag, void* rb, int rn, MPI_Datatype rt, int from, int rtag,
      MPI_Comm c, MPI_Status* s),
     (b, n, t, to, tag, rb, rn, rt, from, rtag, c, s))
PASS(MPI_Wait, (MPI_Request * r, MPI_Status* s), (r, s))
PASS(MPI_Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))
PASS(MPI_Test, (MPI_Request * r, int* f, MPI_Status* s), (r, f, s))
PASS(MPI_Testall, (int n, MPI_Request r[], int* f, MPI_Status s[]), (n, r, f, s))
PASS(MPI_Testsome, (int n, MPI_Request r[], int* m, int i[], MPI_Status s[]), (n, r, m, i, s))
PASS(MPI_Testany, (int n, MPI_Request r[], int* i, int* f, MPI_Status* s), (n, r, i, f, s))
PASS(MPI_Iprobe, (int from, int tag, MPI_Comm c, int* f, MPI_Status* s), (from, tag, c, f, s))
PASS(MPI_Improbe, (int from, int tag, MPI_Comm c, int* f, MPI_Message* m, MPI_Status* s), (from, tag, c, f, m, s))
PASS(MPI_Barrier, (MPI_Comm c), (c))
PASS(MPI_Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
PASS(MPI_Comm_rank, (MPI_Comm c, int* r), (c, r))
PASS(MPI_Comm_size, (MPI_Comm c, int* r), (c, r))
PASS(MPI_Comm_group, (MPI_Comm c, MPI_Group* g), (c, g))
PASS(MPI_Type_size, (MPI_Datatype t, int* s), (t, s))

/* Ardoise finds the library by this name. */
#undef PMPI_Aint_add
__attribute__((visibility("default"))) MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint offset) { return base + offset; }
