/* conformance <folder> [chapter ...]: runs all chapters, or those named, in one MPI_Init. Needs four processes. */
#include "conformance.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } chapters[] = {{"point to point", point_to_point},
                  {"datatypes", datatypes},
                  {"collectives", collectives},
                  {"communicators", communicators},
                  {"attributes", attributes},
                  {"topologies", topologies},
                  {"environment", environment},
                  {"info", info},
                  {"one sided", one_sided},
                  {"external interfaces", external_interfaces},
                  {"io", io},
                  {"tools", tools},
                  {"deprecated", deprecated}};
  int flag, provided;
  MPI_Initialized(&flag);
  say("initialised before: %d", flag);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (world_size != 4) {
    if (world_rank == 0) fprintf(stderr, "conformance: run me with 4 processes, not %d\n", world_size);
    MPI_Finalize();
    return 2;
  }
  if (argc > 1) folder = argv[1];
  say("thread level %d", provided);
  print_lines("start");
  for (size_t i = 0; i < sizeof chapters / sizeof chapters[0]; ++i) {
    int wanted = argc <= 2;
    for (int j = 2; j < argc; ++j) wanted |= strcmp(argv[j], chapters[i].name) == 0;
    if (!wanted) continue;
    make_communicators();
    chapters[i].run();
    free_communicators();
    print_lines(chapters[i].name);
  }
  MPI_Finalize();
  MPI_Finalized(&flag);
  if (world_rank == 0) printf("finalised: %d\n", flag);
  return 0;
}
