// Functions that take or give a communicator in another way than as a plain argument.
#include "vmpi/fortran_handles.hpp"
#include "vmpi/real_functions.hpp"
#include "vmpi/special.hpp"
#include "vmpi/world.hpp"

namespace ardoise::vmpi::special {
namespace {

// Fortran would free the partition: in C the handle stays MPI_COMM_WORLD and the library refuses, as it must here.
void free_fortran(FortranFree real, int (*free)(MPI_Comm*), MPI_Fint* comm, MPI_Fint* ierror) {
  if (!is_virtual() || *comm != fortran_world()) {
    real(comm, ierror);
    return;
  }
  MPI_Comm untranslated = MPI_COMM_WORLD;
  const int code = free(&untranslated);
  if (ierror != nullptr) *ierror = code;
}

// A variable bound to a communicator is given the address of a handle.
void* bound_object(void* object, int bind, MPI_Comm& translated) {
  if (object == nullptr || bind != MPI_T_BIND_MPI_COMM) return object;
  translated = to_library(*static_cast<MPI_Comm*>(object));
  return &translated;
}

}  // namespace

MPI_Comm Comm_f2c(MPI_Fint comm) { return to_program(real_comm_f2c(comm)); }
MPI_Fint Comm_c2f(MPI_Comm comm) { return comm_to_fortran(comm); }

void fortran_Comm_free(FortranFree real, MPI_Fint* comm, MPI_Fint* ierror) {
  free_fortran(real, PMPI_Comm_free, comm, ierror);
}
void fortran_Comm_disconnect(FortranFree real, MPI_Fint* comm, MPI_Fint* ierror) {
  free_fortran(real, PMPI_Comm_disconnect, comm, ierror);
}

int T_cvar_handle_alloc(int index, void* object, MPI_T_cvar_handle* handle, int* count) {
  int bind = MPI_T_BIND_NO_OBJECT;
  if (object != nullptr)
    PMPI_T_cvar_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &bind, nullptr);
  MPI_Comm translated = MPI_COMM_NULL;
  return real.T_cvar_handle_alloc(index, bound_object(object, bind, translated), handle, count);
}

int T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object, MPI_T_pvar_handle* handle, int* count) {
  int bind = MPI_T_BIND_NO_OBJECT;
  if (object != nullptr)
    PMPI_T_pvar_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &bind, nullptr,
                         nullptr, nullptr);
  MPI_Comm translated = MPI_COMM_NULL;
  return real.T_pvar_handle_alloc(session, index, bound_object(object, bind, translated), handle, count);
}

// Its other arguments mean nothing to the library and cannot be passed on.
int Pcontrol(int level) { return real.Pcontrol(level); }

}  // namespace ardoise::vmpi::special
