/* All ways in which a program can inspect its world: rank, size, name, attributes, keyval callbacks, error
 * handlers and their arguments, comparison, conversion to Fortran, groups, objects made on it, and the end. Prints
 * what rank 0 sees; natively and under a virtual world this must be the same text. mpi_world.F90 is its Fortran twin. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, deletions;

static void say(const char* what, long value) {
  if (rank == 0) {
    printf("%s %ld\n", what, value);
    fflush(stdout);
  }
}

static int copy_attribute(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)key;
  say((const char*)extra, comm == MPI_COMM_WORLD);
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra) {
  int my_rank = -1;
  (void)key;
  (void)extra;
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank); /* MPI still works here, also in MPI_Finalize */
  say("delete callback with world", 100 * (my_rank == rank) + 10 * (long)value + (comm == MPI_COMM_WORLD));
  ++deletions;
  return MPI_SUCCESS;
}

static void on_error(MPI_Comm* comm, int* code, ...) {
  int class = 0;
  MPI_Error_class(*code, &class);
  say("error class", 10 * class + (*comm == MPI_COMM_WORLD));
}

static void attributes(void) {
  const int keys[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_LASTUSEDCODE, MPI_UNIVERSE_SIZE};
  int i, found, user_key, self_key, class, *value;
  MPI_Comm duplicate, half, twice;
  for (i = 0; i < 7; ++i) {
    MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i], &value, &found);
    say("attribute", found ? *value : -99);
  }
  MPI_Add_error_class(&class);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &found);
  say("last used code", *value - class);
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &user_key, "copy of world");
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete_attribute, &self_key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, user_key, (void*)4L);
  MPI_Comm_set_attr(MPI_COMM_SELF, self_key, (void*)7L);
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Comm_dup(duplicate, &twice);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &half);
  MPI_Comm_get_attr(duplicate, MPI_TAG_UB, &value, &found);
  say("duplicate has a tag bound", found);
  MPI_Comm_get_attr(twice, MPI_UNIVERSE_SIZE, &value, &found);
  say("its duplicate has a universe", found);
  MPI_Comm_get_attr(half, MPI_TAG_UB, &value, &found);
  say("split has a tag bound", found);
  MPI_Comm_free(&duplicate);
  MPI_Comm_free(&twice);
  MPI_Comm_free(&half);
}

static void errors(void) {
  MPI_Errhandler handler, current;
  MPI_Comm world = MPI_COMM_WORLD, duplicate;
  MPI_Datatype no_type = MPI_DATATYPE_NULL;
  int value = 0;
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &current);
  say("same handler", current == handler);
  MPI_Errhandler_free(&current);
  MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
  MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD);
  MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
  MPI_Type_commit(&no_type); /* bound to no communicator */
  MPI_Group_size(MPI_GROUP_NULL, &value);
  say("free of world fails", MPI_Comm_free(&world) != MPI_SUCCESS);
  say("handle kept", world == MPI_COMM_WORLD);
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Comm_set_errhandler(duplicate, handler);
  MPI_Comm_call_errhandler(duplicate, MPI_ERR_ARG);
  MPI_Comm_free(&duplicate);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  say("returns", MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
}

static void identity(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length, relation, ranks[2] = {0, 1}, translated[2];
  MPI_Comm duplicate, parent;
  MPI_Group group, part;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  say(name, length);
  MPI_Comm_set_name(MPI_COMM_WORLD, "another name");
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  say(name, length);
  MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &relation);
  say("identical", relation == MPI_IDENT);
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Comm_compare(MPI_COMM_WORLD, duplicate, &relation);
  say("congruent", relation == MPI_CONGRUENT);
  MPI_Comm_get_name(duplicate, name, &length);
  say("name of a duplicate", length);
  MPI_Comm_free(&duplicate);
  say("to Fortran", MPI_Comm_c2f(MPI_COMM_WORLD));
  say("from Fortran", MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
  MPI_Comm_get_parent(&parent);
  say("no parent", parent == MPI_COMM_NULL);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Group_size(group, &length);
  say("group", length);
  MPI_Group_incl(group, 2, ranks, &part);
  MPI_Group_translate_ranks(part, 2, ranks, group, translated);
  say("translated", 10 * translated[0] + translated[1]);
  MPI_Group_free(&group);
  MPI_Group_free(&part);
}

static void objects(const char* path) {
  MPI_Comm inter, node, merged;
  MPI_Group group, whole;
  MPI_Win window;
  MPI_File file;
  MPI_Info info;
  int members, relation, *memory, keys;
  MPI_Comm_group(MPI_COMM_WORLD, &whole);
  if (rank < 2) {
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 9, &inter);
    MPI_Comm_remote_size(inter, &members);
    say("intercommunicator", members);
    MPI_Intercomm_merge(inter, rank, &merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
  }
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &members);
  say("on this node", members);
  MPI_Comm_free(&node);
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_get_group(window, &group);
  MPI_Group_compare(group, whole, &relation);
  say("window of the world", relation == MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Win_free(&window);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_get_group(file, &group);
  MPI_Group_compare(group, whole, &relation);
  say("file of the world", relation == MPI_IDENT);
  MPI_Group_free(&group);
  MPI_File_close(&file);
  MPI_Comm_get_info(MPI_COMM_WORLD, &info);
  MPI_Info_get_nkeys(info, &keys);
  say("info keys", keys);
  MPI_Info_free(&info);
  MPI_Group_free(&whole);
}

int main(int argc, char** argv) {
  int flag, provided;
  MPI_Initialized(&flag);
  say("initialised before", flag);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  say("size", size);
  say("thread level", provided);
  say("preloads", getenv("LD_PRELOAD") != NULL);
  if (rank == 0) say("preloads of children", system("test -z \"$LD_PRELOAD\""));
  identity();
  attributes();
  errors();
  objects(argc > 1 ? argv[1] : "mpi_world.out");
  MPI_Finalize();
  MPI_Finalized(&flag);
  say("finalised", flag);
  say("deletions", deletions);
  return 0;
}
