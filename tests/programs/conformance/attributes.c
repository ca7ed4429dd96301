/* Caching: predefined attributes of each communicator, own ones with callbacks that look at the communicator they are
 * handed, on communicators, datatypes and windows. */
#include <stddef.h>
#include "conformance.h"

static MPI_Comm expected[4]; /* allowed in a callback */
static const char* const expected_names[4] = {"world", "duplicate", "inter", "self"};

static const char* called_on(MPI_Comm comm) {
  for (int i = 0; i < 4; ++i) {
    if (comm == expected[i]) return expected_names[i];
  }
  return "another";
}

static int failing;

static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  int size;
  (void)key;
  MPI_Comm_size(comm, &size); /* MPI works inside */
  say("copied from %s of %d: %ld, extra %ld", called_on(comm), size, (long)in, (long)extra);
  *(void**)out = (char*)in + 1;
  *flag = (long)in != 13;
  return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void* value, void* extra) {
  int size;
  (void)key;
  MPI_Comm_size(comm, &size);
  say("deleted from %s of %d: %ld, extra %ld", called_on(comm), size, (long)value, (long)extra);
  return failing ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void predefined(const char* name, MPI_Comm comm) {
  static const struct {
    const char* name;
    int key;
  } keys[] = {{"MPI_TAG_UB", MPI_TAG_UB},         {"MPI_HOST", MPI_HOST},
              {"MPI_IO", MPI_IO},                 {"MPI_WTIME_IS_GLOBAL", MPI_WTIME_IS_GLOBAL},
              {"MPI_APPNUM", MPI_APPNUM},         {"MPI_UNIVERSE_SIZE", MPI_UNIVERSE_SIZE},
              {"MPI_LASTUSEDCODE", MPI_LASTUSEDCODE}};
  for (int i = 0; i < 7; ++i) {
    int* value = NULL;
    int found = -1;
    MPI_Comm_get_attr(comm, keys[i].key, &value, &found);
    say("%s of %s: %d %d", keys[i].name, name, found, found ? *value : -1);
  }
}

static void own(int index, MPI_Comm comm) {
  int key, found, class;
  void* seen = NULL;
  MPI_Comm made;
  MPI_Comm_create_keyval(copy, delete, &key, (void*)(long)index);
  MPI_Comm_get_attr(comm, key, &seen, &found);
  say("not set: %d", found);
  MPI_Comm_set_attr(comm, key, (void*)5L);
  MPI_Comm_set_attr(comm, key, (void*)7L); /* deletes 5 */
  MPI_Comm_get_attr(comm, key, &seen, &found);
  say("set: %d %ld", found, (long)seen);
  MPI_Comm_dup(comm, &made);
  MPI_Comm_get_attr(made, key, &seen, &found);
  say("of the duplicate: %d %ld", found, (long)seen);
  MPI_Comm_free(&made);
  MPI_Comm_set_attr(comm, key, (void*)13L); /* is not copied */
  MPI_Comm_dup(comm, &made);
  MPI_Comm_get_attr(made, key, &seen, &found);
  say("of the duplicate: %d", found);
  MPI_Comm_free(&made);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  failing = 1;
  MPI_Error_class(MPI_Comm_delete_attr(comm, key), &class);
  say("deletion fails: %d", class);
  failing = 0;
  MPI_Comm_delete_attr(comm, key);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free_keyval(&key);
  say("freed %d", key == MPI_KEYVAL_INVALID);
  /* With the functions of MPI itself. */
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(comm, key, (void*)21L);
  MPI_Comm_dup(comm, &made);
  MPI_Comm_get_attr(made, key, &seen, &found);
  say("of the duplicate: %d %ld", found, (long)seen);
  MPI_Comm_delete_attr(made, key);
  MPI_Comm_get_attr(made, key, &seen, &found);
  say("deleted: %d", found);
  MPI_Comm_free(&made);
  MPI_Comm_delete_attr(comm, key);
  MPI_Comm_free_keyval(&key);
}

static int copy_type(MPI_Datatype type, int key, void* extra, void* in, void* out, int* flag) {
  (void)type;
  (void)key;
  (void)extra;
  say("copied of a type %ld", (long)in);
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_type(MPI_Datatype type, int key, void* value, void* extra) {
  (void)type;
  (void)key;
  (void)extra;
  say("deleted of a type %ld", (long)value);
  return MPI_SUCCESS;
}
static int delete_window(MPI_Win window, int key, void* value, void* extra) {
  (void)window;
  (void)key;
  (void)extra;
  say("deleted of a window %ld", (long)value);
  return MPI_SUCCESS;
}

static void types_and_windows(void) {
  static const int keys[] = {MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL};
  MPI_Datatype type, twin;
  MPI_Win window;
  int key, found;
  void* seen = NULL;
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_create_keyval(copy_type, delete_type, &key, NULL);
  MPI_Type_set_attr(type, key, (void*)3L);
  MPI_Type_dup(type, &twin);
  MPI_Type_get_attr(twin, key, &seen, &found);
  say("of the twin: %d %ld", found, (long)seen);
  MPI_Type_delete_attr(twin, key);
  MPI_Type_free(&type);
  MPI_Type_free(&twin);
  MPI_Type_free_keyval(&key);
  MPI_Win_create(&key, sizeof key, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int i = 0; i < 4; ++i) {
    MPI_Win_get_attr(window, keys[i], &seen, &found);
    say("window attribute %d: %d %ld", i, found, i == 0 ? (long)*(MPI_Aint*)seen : (long)*(int*)seen);
  }
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_window, &key, NULL);
  MPI_Win_set_attr(window, key, (void*)8L);
  MPI_Win_get_attr(window, key, &seen, &found);
  say("window: %d %ld", found, (long)seen);
  MPI_Win_delete_attr(window, key);
  MPI_Win_set_attr(window, key, (void*)9L);
  MPI_Win_free_keyval(&key);
  MPI_Win_free(&window);
}

/* Its delete function runs in MPI_Finalize, when the world still exists. */
static int at_the_end(MPI_Comm comm, int key, void* value, void* extra) {
  int rank = -1, size = -1;
  (void)key;
  (void)value;
  (void)extra;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  /* Too late for print_lines(): a process that sees another world ends with a status of its own. */
  return rank == world_rank && size == world_size && comm == MPI_COMM_SELF ? MPI_SUCCESS : MPI_Abort(comm, 9);
}

void attributes(void) {
  int key, class, *value, found;
  expected[0] = MPI_COMM_WORLD;
  expected[1] = intra[1].comm;
  expected[2] = inter[0].comm;
  expected[3] = MPI_COMM_SELF;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Comm_free_keyval(&key);
  for (int i = 0; i < kIntra; ++i) predefined(intra[i].name, intra[i].comm);
  predefined(inter[0].name, inter[0].comm);
  for (int i = 0; i < 4; ++i) own(i, expected[i]);
  MPI_Add_error_class(&class);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &found);
  say("last used code: %d %d", found, *value - class);
  types_and_windows();
}
