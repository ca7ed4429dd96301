/* A program that calls the PMPI_ names itself, and reads in the environment and in MPI_INFO_ENV what launch it is part
 * of. Prints what rank 0 sees; natively and under a virtual world this must be the same text. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void say(const char* what, long value) {
  if (rank == 0) {
    printf("%s %ld\n", what, value);
    fflush(stdout);
  }
}

static void say_text(const char* what, const char* text) {
  if (rank == 0) printf("%s %s\n", what, text != NULL ? text : "not set");
}

static void environment(void) {
  static const char* const names[] = {"OMPI_COMM_WORLD_RANK",       "OMPI_COMM_WORLD_SIZE",      "OMPI_COMM_WORLD_LOCAL_RANK",
                                      "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_NODE_RANK", "OMPI_NUM_APP_CTX",
                                      "OMPI_APP_CTX_NUM_PROCS",     "OMPI_FIRST_RANKS",          "LD_PRELOAD"};
  unsigned i;
  for (i = 0; i < sizeof names / sizeof *names; ++i) say_text(names[i], getenv(names[i]));
}

static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key;
  (void)value;
  (void)extra;
  say("deleted on the world", comm == MPI_COMM_WORLD);
  return MPI_SUCCESS;
}

static void on_error(MPI_Comm* comm, int* code, ...) {
  int class = 0;
  PMPI_Error_class(*code, &class);
  say("error class", 10 * class + (*comm == MPI_COMM_WORLD));
}

static void world(void) {
  int key, found, relation, length, *value, total = 0, group_size;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Comm duplicate, inter, handle = MPI_COMM_WORLD;
  MPI_Errhandler handler;
  MPI_Group group;
  PMPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  say("sum of ranks", total);
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &found);
  say("application", found ? *value : -1);
  PMPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  PMPI_Comm_get_attr(duplicate, MPI_TAG_UB, &value, &found);
  say("tag bound of a duplicate", found);
  PMPI_Comm_compare(MPI_COMM_WORLD, duplicate, &relation);
  say("congruent", relation == MPI_CONGRUENT);
  PMPI_Comm_free(&duplicate);
  PMPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  say(name, length);
  say("to Fortran and back", PMPI_Comm_f2c(PMPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
  PMPI_Comm_group(MPI_COMM_WORLD, &group);
  PMPI_Group_size(group, &group_size);
  PMPI_Group_free(&group);
  say("group", group_size);
  PMPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete_attribute, &key, NULL);
  PMPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
  PMPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  PMPI_Comm_free_keyval(&key);
  PMPI_Comm_create_errhandler(on_error, &handler);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  PMPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
  PMPI_Comm_free(&handle);
  say("world kept", handle == MPI_COMM_WORLD);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  PMPI_Errhandler_free(&handler);
  if (rank < 2) {
    PMPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 9, &inter);
    PMPI_Comm_remote_size(inter, &length);
    say("intercommunicator", length);
    PMPI_Comm_free(&inter);
  }
}

static void launch(void) {
  static const char* const keys[] = {"maxprocs", "soft", "ompi_num_apps", "ompi_np", "ompi_first_rank"};
  char value[256];
  unsigned i;
  int found;
  for (i = 0; i < sizeof keys / sizeof *keys; ++i) {
    MPI_Info_get(MPI_INFO_ENV, keys[i], sizeof value - 1, value, &found);
    say_text(keys[i], found ? value : NULL);
  }
}

int main(int argc, char** argv) {
  const char* const own_rank = getenv("OMPI_COMM_WORLD_RANK"); /* another launcher gives none */
  rank = own_rank != NULL ? atoi(own_rank) : 0;
  say_text("rank before MPI_Init", own_rank);
  say_text("size before MPI_Init", getenv("OMPI_COMM_WORLD_SIZE"));
  say_text("local size before MPI_Init", getenv("OMPI_COMM_WORLD_LOCAL_SIZE"));
  PMPI_Init(&argc, &argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  say("size", size);
  environment();
  launch();
  world();
  PMPI_Barrier(MPI_COMM_WORLD);
  return PMPI_Finalize();
}
