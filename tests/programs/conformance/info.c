/* Info objects, and those of communicators, windows and files. */
#include <string.h>

#include "conformance.h"

static void show(const char* name, MPI_Info info) {
  char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
  int keys, flag, length;
  MPI_Info_get_nkeys(info, &keys);
  say("%s has %d keys", name, keys);
  for (int i = 0; i < keys; ++i) {
    MPI_Info_get_nthkey(info, i, key);
    /* These depend on the launch line, not on the program. */
    if (strcmp(key, "command") == 0 || strcmp(key, "argv") == 0 || strncmp(key, "ompi_", 5) == 0) continue;
    MPI_Info_get_valuelen(info, key, &length, &flag);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
    say("%s: %s = %s (%d)", name, key, strstr(value, "/") != NULL ? "a path" : value, length);
  }
}

void info(void) {
  char value[8];
  int flag, length;
  MPI_Info made, twin, read;
  MPI_Win window;
  MPI_File file;
  MPI_Info_create(&made);
  show("empty", made);
  MPI_Info_set(made, "colour", "blue");
  MPI_Info_set(made, "size", "17");
  MPI_Info_set(made, "colour", "a longer colour");
  MPI_Info_get(made, "colour", 7, value, &flag);
  say("cut: %s %d", value, flag);
  MPI_Info_get_valuelen(made, "shape", &length, &flag);
  say("no shape: %d", flag);
  MPI_Info_dup(made, &twin);
  MPI_Info_delete(made, "colour");
  show("one left", made);
  show("twin", twin);
  show("environment", MPI_INFO_ENV);
  say("there and back %d", MPI_Info_f2c(MPI_Info_c2f(twin)) == twin);
  for (int i = 0; i < kIntra + kInter; ++i) {
    const Named* const named = i < kIntra ? &intra[i] : &inter[i - kIntra];
    MPI_Comm made_comm;
    MPI_Comm_set_info(named->comm, twin);
    MPI_Comm_get_info(named->comm, &read);
    show(named->name, read);
    MPI_Info_free(&read);
    MPI_Comm_dup_with_info(named->comm, made, &made_comm);
    MPI_Comm_get_info(made_comm, &read);
    show("its duplicate", read);
    MPI_Info_free(&read);
    MPI_Comm_free(&made_comm);
  }
  MPI_Info_set(made, "no_locks", "true");
  MPI_Win_create(&flag, sizeof flag, 1, made, MPI_COMM_WORLD, &window);
  MPI_Win_set_info(window, twin);
  MPI_Win_get_info(window, &read);
  show("window", read);
  MPI_Info_free(&read);
  MPI_Win_free(&window);
  MPI_File_open(MPI_COMM_WORLD, path_of("info"), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, made, &file);
  MPI_File_set_info(file, twin);
  MPI_File_get_info(file, &read);
  show("file", read);
  MPI_Info_free(&read);
  MPI_File_close(&file);
  MPI_Info_free(&made);
  MPI_Info_free(&twin);
  say("freed %d", made == MPI_INFO_NULL);
}
