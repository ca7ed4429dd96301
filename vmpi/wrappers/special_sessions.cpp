// Sessions (MPI 4): the process set "mpi://WORLD" is that of the program, not of the launch. Making partitions is
// collective over the launch: in MPI_Init or here.
#include "vmpi/wrappers/special.hpp"

#if MPI_VERSION >= 4

#include <strings.h>

#include <cstdio>

#include "vmpi/world/world.hpp"

namespace ardoise::vmpi::special {
namespace {

bool is_world(const char* set) { return is_virtual() && set != nullptr && strcasecmp(set, "mpi://WORLD") == 0; }

}  // namespace

int Session_init(const RealFunctions& next, MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  make_hidden_world();
  return next.Session_init(info, handler, session);
}

int Session_get_pset_info(const RealFunctions& next, MPI_Session session, const char* name, MPI_Info* info) {
  const int code = next.Session_get_pset_info(session, name, info);
  if (code != MPI_SUCCESS || !is_world(name)) return code;
  int size = 0;
  PMPI_Comm_size(to_library(MPI_COMM_WORLD), &size);
  char text[16];
  std::snprintf(text, sizeof text, "%d", size);
  PMPI_Info_set(*info, "mpi_size", text);
  return code;
}

int Group_from_session_pset(const RealFunctions& next, MPI_Session session, const char* name, MPI_Group* group) {
  if (!is_world(name)) return next.Group_from_session_pset(session, name, group);
  return next.Comm_group(to_library(MPI_COMM_WORLD), group);
}

}  // namespace ardoise::vmpi::special

#endif
