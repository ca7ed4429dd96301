// Sessions (MPI 4): the process set "mpi://WORLD" is that of the program alone, not of the launch.
#include "vmpi/special.hpp"

#if MPI_VERSION >= 4

#include <strings.h>

#include "vmpi/world.hpp"

namespace ardoise::vmpi::special {

int Group_from_session_pset(const RealFunctions& next, MPI_Session session, const char* name, MPI_Group* group) {
  if (!is_virtual() || name == nullptr || strcasecmp(name, "mpi://WORLD") != 0)
    return next.Group_from_session_pset(session, name, group);
  return next.Comm_group(to_library(MPI_COMM_WORLD), group);
}

}  // namespace ardoise::vmpi::special

#endif
