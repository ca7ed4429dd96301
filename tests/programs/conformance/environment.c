/* The environment: versions, error handlers and the communicators that their callbacks are handed, error classes and
 * codes, memory, time, threads. */
#include <string.h>

#include "conformance.h"

static MPI_Comm handled; /* the communicator the error is expected on */
static int calls;

static void on_error(MPI_Comm* comm, int* code, ...) {
  char text[MPI_MAX_ERROR_STRING];
  int class, length, size = -1;
  MPI_Error_class(*code, &class);
  MPI_Error_string(class, text, &length);
  MPI_Comm_size(*comm, &size);
  say("handler: %s on the expected communicator %d, the world %d, of %d", text, *comm == handled,
      *comm == MPI_COMM_WORLD, size);
  ++calls;
}
static void on_other_error(MPI_Comm* comm, int* code, ...) {
  say("other handler: %d %d", *comm == handled, *code == MPI_ERR_OTHER);
  ++calls;
}
static void on_window_error(MPI_Win* window, int* code, ...) {
  int class;
  MPI_Error_class(*code, &class);
  say("window's handler: %d %d", *window != MPI_WIN_NULL, class);
}
static void on_file_error(MPI_File* file, int* code, ...) {
  int class;
  MPI_Error_class(*code, &class);
  say("file's handler: none %d, %d", *file == MPI_FILE_NULL, class);
}

static void handlers(const Named* named, MPI_Errhandler handler, MPI_Errhandler other) {
  MPI_Errhandler current;
  MPI_Comm made;
  MPI_Request request;
  int value = 0, before = calls;
  handled = named->comm;
  say("on %s", named->name);
  MPI_Comm_get_errhandler(named->comm, &current);
  say("handler at first is fatal: %d", current == MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&current);
  MPI_Comm_set_errhandler(named->comm, handler);
  MPI_Comm_get_errhandler(named->comm, &current);
  say("handler is ours: %d", current == handler);
  MPI_Errhandler_free(&current);
  MPI_Send(&value, 1, MPI_INT, 1000, 0, named->comm);
  MPI_Recv(&value, 1, MPI_INT, -1000, 0, named->comm, MPI_STATUS_IGNORE);
  MPI_Send(&value, -1, MPI_INT, 0, 0, named->comm);
  MPI_Isend(&value, 1, MPI_DATATYPE_NULL, 0, 0, named->comm, &request);
  MPI_Send(&value, 1, MPI_INT, 0, -5, named->comm);
  MPI_Bcast(&value, 1, MPI_INT, 1000, named->comm);
  MPI_Comm_call_errhandler(named->comm, MPI_ERR_INTERN);
  say("called %d times", calls - before);
  MPI_Comm_dup(named->comm, &made); /* the duplicate inherits it */
  handled = made;
  MPI_Comm_call_errhandler(made, MPI_ERR_ARG);
  MPI_Send(&value, 1, MPI_INT, 1000, 0, made);
  MPI_Comm_set_errhandler(made, other);
  MPI_Comm_call_errhandler(made, MPI_ERR_OTHER);
  MPI_Comm_free(&made);
  MPI_Comm_set_errhandler(named->comm, MPI_ERRORS_RETURN);
  say("returned %d", MPI_Send(&value, 1, MPI_INT, 1000, 0, named->comm) != MPI_SUCCESS);
  MPI_Comm_set_errhandler(named->comm, MPI_ERRORS_ARE_FATAL);
}

/* Errors that belong to no communicator. Their handler depends on the MPI (the world's or MPI_COMM_SELF's), not on Ardoise. */
static void unbound(MPI_Errhandler handler) {
  MPI_Datatype none = MPI_DATATYPE_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Info info = MPI_INFO_NULL;
  int size = 0, before = calls;
  handled = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Type_commit(&none);
  MPI_Group_size(MPI_GROUP_NULL, &size);
  MPI_Comm_size(MPI_COMM_NULL, &size);
  MPI_Request_free(&request);
  MPI_Info_free(&info);
  MPI_Type_size(MPI_DATATYPE_NULL, &size);
  say("unbound errors: %d", calls - before);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void classes(void) {
  char text[MPI_MAX_ERROR_STRING];
  int class, code, length, back;
  for (class = 0; class <= MPI_ERR_WIN; ++class) {
    MPI_Error_string(class, text, &length);
    MPI_Error_class(class, &back);
    say("class %d %d: %s", class, back, text);
  }
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  MPI_Add_error_string(class, "cells left the domain");
  MPI_Add_error_string(code, "cell 7 left the domain");
  MPI_Error_class(code, &back);
  MPI_Error_string(code, text, &length);
  say("own: %d %s", back == class, text);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  say("own class is called: %d", MPI_Comm_call_errhandler(MPI_COMM_WORLD, code));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void windows_and_files(void) {
  MPI_Errhandler handler, current;
  MPI_Win window;
  MPI_File file = MPI_FILE_NULL;
  int value = 0;
  MPI_Win_create_errhandler(on_window_error, &handler);
  MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_set_errhandler(window, handler);
  MPI_Win_get_errhandler(window, &current);
  say("window's handler is ours: %d", current == handler);
  MPI_Errhandler_free(&current);
  MPI_Win_call_errhandler(window, MPI_ERR_RMA_RANGE);
  MPI_Win_fence(0, window);
  MPI_Put(&value, 1, MPI_INT, 1000, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Errhandler_free(&handler);
  MPI_File_create_errhandler(on_file_error, &handler);
  MPI_File_set_errhandler(MPI_FILE_NULL, handler);
  MPI_File_get_errhandler(MPI_FILE_NULL, &current);
  say("files' handler is ours: %d", current == handler);
  MPI_Errhandler_free(&current);
  MPI_File_open(MPI_COMM_WORLD, path_of("missing/file"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_File_open(MPI_COMM_SELF, path_of("missing file"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_File_delete(path_of("missing file"), MPI_INFO_NULL);
  MPI_File_open(MPI_COMM_WORLD, path_of("handled"), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  MPI_File_call_errhandler(file, MPI_ERR_IO);
  MPI_File_close(&file);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
}

void environment(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
  int version, subversion, length, flag, provided;
  void* memory;
  MPI_Errhandler handler, other;
  MPI_Get_version(&version, &subversion);
  MPI_Get_library_version(text, &length);
  MPI_Get_processor_name(name, &length);
  say("MPI %d.%d, %.20s on %s", version, subversion, text, name);
  MPI_Initialized(&flag);
  say("initialised %d", flag);
  MPI_Finalized(&flag);
  say("finalised %d", flag);
  MPI_Query_thread(&provided);
  MPI_Is_thread_main(&flag);
  say("threads %d, the main one %d", provided, flag);
  MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory);
  memset(memory, 1, 1000);
  say("memory %d", MPI_Free_mem(memory));
  const double first = MPI_Wtime(), second = MPI_Wtime();
  say("time goes on %d, in ticks %d", second >= first, MPI_Wtick() > 0 && MPI_Wtick() < 1);
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_create_errhandler(on_other_error, &other);
  for (int i = 0; i < kIntra; ++i) handlers(&intra[i], handler, other);
  for (int i = 0; i < kInter; ++i) handlers(&inter[i], handler, other);
  unbound(handler);
  MPI_Errhandler_free(&handler);
  MPI_Errhandler_free(&other);
  classes();
  windows_and_files();
}
