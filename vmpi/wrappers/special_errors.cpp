// Error handlers of the world. Errors that belong to no communicator (an invalid datatype or group) go to the real
// world's handler, so that follows the handler of the program's world.
#include "vmpi/world/world.hpp"
#include "vmpi/wrappers/callbacks.hpp"
#include "vmpi/wrappers/special.hpp"

namespace ardoise::vmpi::special {
namespace {

int set_handler(decltype(&PMPI_Comm_set_errhandler) set, MPI_Comm comm, MPI_Errhandler handler) {
  const int code = set(to_library(comm), handler);
  if (code == MPI_SUCCESS && to_program(comm) == MPI_COMM_WORLD && is_virtual())
    library.Comm_set_errhandler(MPI_COMM_WORLD, handler);
  return code;
}

}  // namespace

int Comm_set_errhandler(const RealFunctions& next, MPI_Comm comm, MPI_Errhandler handler) {
  return set_handler(next.Comm_set_errhandler, comm, handler);
}
int Errhandler_set(const RealFunctions& next, MPI_Comm comm, MPI_Errhandler handler) {
  return set_handler(next.Errhandler_set, comm, handler);
}

int Comm_create_errhandler(const RealFunctions& next, MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
  return next.Comm_create_errhandler(InsideFortran::is_true() ? function : translated(function), handler);
}
int Errhandler_create(const RealFunctions& next, MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
  return next.Errhandler_create(InsideFortran::is_true() ? function : translated(function), handler);
}

void fortran_Comm_create_errhandler(FortranCreateErrhandler real, void* procedure, void* handler, MPI_Fint* ierror) {
  const InsideFortran inside;
  real(translated_fortran_errhandler(procedure), handler, ierror);
}

}  // namespace ardoise::vmpi::special
