/* A host that is not linked to MPI and opens plug-ins that are, with RTLD_DEEPBIND, as Julia opens all libraries. Which
 * one of them starts MPI does not matter to the others. Arguments: plug-ins, paths or names that this program's RUNPATH
 * finds. Prints what rank 0 sees; natively and under a tool it must be the same text. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int answer(void);
int answer(void) { return 1; }

static void* look_up(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (found == NULL) {
    printf("%s\n", dlerror());
    exit(2);
  }
  return found;
}

int main(int argc, char** argv) {
  enum { kMost = 8 };
  void* plugins[kMost];
  int count = 0, version = 0, subversion = 0, rank = -1;
  for (; count < argc - 1 && count < kMost; ++count) {
    plugins[count] = dlopen(argv[count + 1], (count % 2 == 0 ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL | RTLD_DEEPBIND);
    if (plugins[count] == NULL) {
      printf("%s\n", dlerror());
      return 2;
    }
    if (dlerror() != NULL) printf("an error is left\n");
  }
  ((void (*)(int*, char***))look_up(plugins[0], "plugin_start"))(&argc, &argv);
  /* The host's own look-ups, beside them. */
  ((int (*)(int*, int*))look_up(plugins[0], "MPI_Get_version"))(&version, &subversion);
  for (int i = 0; i < count; ++i) {
    int seen[5];
    ((void (*)(int*))look_up(plugins[i], "plugin_look"))(seen);
    rank = seen[4];
    if (rank == 0) printf("world of %d, of %d, sum %d, answer %d, MPI %d\n", seen[0], seen[1], seen[2], seen[3], version);
  }
  const int is_told = dlopen("no_such_plugin.so", RTLD_LAZY | RTLD_DEEPBIND) == NULL && dlerror() != NULL;
  if (rank == 0) printf("the host's answer %d, nothing by that name: %d\n", answer(), is_told);
  fflush(stdout);
  ((void (*)(void))look_up(plugins[0], "plugin_end"))();
  return rank < 0;
}
