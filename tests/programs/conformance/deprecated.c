/* Deprecated and removed functions. Open MPI's mpi.h hides the removed ones, the library still has them: binaries that
 * were built long ago use them. */
#include "conformance.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#ifdef OPEN_MPI
int old_address(void*, MPI_Aint*) __asm__("MPI_Address");
int old_errhandler_create(void (*)(MPI_Comm*, int*, ...), MPI_Errhandler*) __asm__("MPI_Errhandler_create");
int old_errhandler_get(MPI_Comm, MPI_Errhandler*) __asm__("MPI_Errhandler_get");
int old_errhandler_set(MPI_Comm, MPI_Errhandler) __asm__("MPI_Errhandler_set");
int old_type_extent(MPI_Datatype, MPI_Aint*) __asm__("MPI_Type_extent");
int old_type_lb(MPI_Datatype, MPI_Aint*) __asm__("MPI_Type_lb");
int old_type_ub(MPI_Datatype, MPI_Aint*) __asm__("MPI_Type_ub");
int old_type_hindexed(int, int*, MPI_Aint*, MPI_Datatype, MPI_Datatype*) __asm__("MPI_Type_hindexed");
int old_type_hvector(int, int, MPI_Aint, MPI_Datatype, MPI_Datatype*) __asm__("MPI_Type_hvector");
int old_type_struct(int, int*, MPI_Aint*, MPI_Datatype*, MPI_Datatype*) __asm__("MPI_Type_struct");
#else
#define old_address MPI_Address
#define old_errhandler_create MPI_Errhandler_create
#define old_errhandler_get MPI_Errhandler_get
#define old_errhandler_set MPI_Errhandler_set
#define old_type_extent MPI_Type_extent
#define old_type_lb MPI_Type_lb
#define old_type_ub MPI_Type_ub
#define old_type_hindexed MPI_Type_hindexed
#define old_type_hvector MPI_Type_hvector
#define old_type_struct MPI_Type_struct
#endif

static MPI_Comm handled;

static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)key;
  say("copied from the expected communicator %d, the world %d, extra %ld", comm == handled, comm == MPI_COMM_WORLD,
      (long)extra);
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key;
  (void)extra;
  say("deleted from the expected communicator %d: %ld", comm == handled, (long)value);
  return MPI_SUCCESS;
}
static void on_error(MPI_Comm* comm, int* code, ...) {
  int class;
  MPI_Error_class(*code, &class);
  say("handler: expected communicator %d, class %d", *comm == handled, class);
}

static void on_each(const Named* named) {
  MPI_Errhandler handler, current;
  MPI_Comm made;
  int key, found, value = 0, *bound;
  void* seen;
  handled = named->comm;
  say("on %s", named->name);
  old_errhandler_create(on_error, &handler);
  old_errhandler_set(named->comm, handler);
  old_errhandler_get(named->comm, &current);
  say("ours %d", current == handler);
  MPI_Send(&value, 1, MPI_INT, 1000, 0, named->comm);
  old_errhandler_set(named->comm, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&current);
  MPI_Errhandler_free(&handler);
  MPI_Keyval_create(copy, delete, &key, (void*)4L);
  MPI_Attr_put(named->comm, key, (void*)3L);
  MPI_Attr_get(named->comm, key, &seen, &found);
  say("attribute %d %ld", found, (long)seen);
  MPI_Comm_dup(named->comm, &made);
  MPI_Attr_get(made, key, &seen, &found);
  say("of the duplicate %d %ld", found, (long)seen);
  MPI_Attr_get(made, MPI_TAG_UB, &bound, &found);
  say("its bound of tags %d", found);
  MPI_Attr_delete(named->comm, key);
  handled = made;
  MPI_Comm_free(&made);
  MPI_Keyval_free(&key);
  MPI_Attr_get(named->comm, MPI_TAG_UB, &bound, &found);
  say("bound of tags %d %d", found, found ? *bound : -1);
}

void deprecated(void) {
  int lengths[2] = {1, 2}, numbers[4] = {1, 2, 3, 4};
  MPI_Aint places[2] = {0, 8}, extent, lower, upper, first, second;
  MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, type;
  for (int i = 0; i < kIntra; ++i) on_each(&intra[i]);
  on_each(&inter[0]);
  old_address(&numbers[0], &first);
  old_address(&numbers[2], &second);
  say("addresses %ld", (long)(second - first));
  for (int i = 0; i < 3; ++i) {
    if (i == 0) old_type_hindexed(2, lengths, places, MPI_INT, &type);
    if (i == 1) old_type_hvector(2, 1, 12, MPI_INT, &type);
    if (i == 2) old_type_struct(2, lengths, places, types, &type);
    old_type_extent(type, &extent);
    old_type_lb(type, &lower);
    old_type_ub(type, &upper);
    say("type %d: extent %ld, %ld to %ld", i, (long)extent, (long)lower, (long)upper);
    MPI_Type_free(&type);
  }
}
