// Error handlers of the world. Errors that belong to no communicator (a bad datatype, a bad group) go to the real
// world's handler, so it is kept in step with the handler of the program's world.
#include "vmpi/callbacks.hpp"
#include "vmpi/fortran_handles.hpp"
#include "vmpi/real_functions.hpp"
#include "vmpi/special.hpp"
#include "vmpi/world.hpp"

namespace ardoise::vmpi::special {
namespace {

int set_handler(decltype(&PMPI_Comm_set_errhandler) set, MPI_Comm comm, MPI_Errhandler handler) {
  const int code = set(to_library(comm), handler);
  if (code == MPI_SUCCESS && comm == MPI_COMM_WORLD && is_virtual()) PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  return code;
}

void set_fortran_handler(FortranSetErrhandler real, MPI_Fint* comm, void* handler, MPI_Fint* ierror) {
  MPI_Fint code = MPI_SUCCESS;
  real(comm, handler, &code);
  if (ierror != nullptr) *ierror = code;
  if (code == MPI_SUCCESS && *comm == fortran_world() && is_virtual())
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, PMPI_Errhandler_f2c(*static_cast<MPI_Fint*>(handler)));
}

}  // namespace

int Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  return set_handler(real.Comm_set_errhandler, comm, handler);
}
int Errhandler_set(MPI_Comm comm, MPI_Errhandler handler) { return set_handler(real.Errhandler_set, comm, handler); }

int Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
  return real.Comm_create_errhandler(translated(function), handler);
}
int Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
  return real.Errhandler_create(translated(function), handler);
}

void fortran_Comm_set_errhandler(FortranSetErrhandler real, MPI_Fint* comm, void* handler, MPI_Fint* ierror) {
  set_fortran_handler(real, comm, handler, ierror);
}
void fortran_Errhandler_set(FortranSetErrhandler real, MPI_Fint* comm, void* handler, MPI_Fint* ierror) {
  set_fortran_handler(real, comm, handler, ierror);
}
void fortran_Comm_create_errhandler(FortranCreateErrhandler real, void* procedure, void* handler, MPI_Fint* ierror) {
  real(translated_fortran_errhandler(procedure), handler, ierror);
}
void fortran_Errhandler_create(FortranCreateErrhandler real, void* procedure, void* handler, MPI_Fint* ierror) {
  real(translated_fortran_errhandler(procedure), handler, ierror);
}

}  // namespace ardoise::vmpi::special
