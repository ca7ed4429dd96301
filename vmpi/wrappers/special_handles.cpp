// Functions that take or return a communicator in another way than as a plain argument.
#include "vmpi/world/world.hpp"
#include "vmpi/wrappers/fortran_handles.hpp"
#include "vmpi/wrappers/special.hpp"

namespace ardoise::vmpi::special {
namespace {

// The library refuses to free MPI_COMM_WORLD. It must not get the partition, which a Fortran routine passes here.
int free_communicator(int (*free)(MPI_Comm*), MPI_Comm* comm) {
  if (comm == nullptr || !is_virtual() || to_program(*comm) != MPI_COMM_WORLD) return free(comm);
  MPI_Comm untranslated = MPI_COMM_WORLD;
  return free(&untranslated);
}

// A variable bound to a communicator takes the address of a handle.
void* bound_object(void* object, int bind, MPI_Comm& translated) {
  if (object == nullptr || bind != MPI_T_BIND_MPI_COMM) return object;
  translated = to_library(*static_cast<MPI_Comm*>(object));
  return &translated;
}

}  // namespace

#ifdef OPEN_MPI
MPI_Comm Comm_f2c(const RealFunctions& /*next*/, MPI_Fint comm) { return to_program(real_comm_f2c(comm)); }
MPI_Fint Comm_c2f(const RealFunctions& /*next*/, MPI_Comm comm) { return comm_to_fortran(comm); }
#endif

int Comm_free(const RealFunctions& next, MPI_Comm* comm) { return free_communicator(next.Comm_free, comm); }
int Comm_disconnect(const RealFunctions& next, MPI_Comm* comm) { return free_communicator(next.Comm_disconnect, comm); }

int T_cvar_handle_alloc(const RealFunctions& next, int index, void* object, MPI_T_cvar_handle* handle, int* count) {
  int bind = MPI_T_BIND_NO_OBJECT;
  if (object != nullptr)
    PMPI_T_cvar_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &bind, nullptr);
  MPI_Comm translated = MPI_COMM_NULL;
  return next.T_cvar_handle_alloc(index, bound_object(object, bind, translated), handle, count);
}

int T_pvar_handle_alloc(const RealFunctions& next, MPI_T_pvar_session session, int index, void* object,
                        MPI_T_pvar_handle* handle, int* count) {
  int bind = MPI_T_BIND_NO_OBJECT;
  if (object != nullptr)
    PMPI_T_pvar_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &bind, nullptr,
                         nullptr, nullptr);
  MPI_Comm translated = MPI_COMM_NULL;
  return next.T_pvar_handle_alloc(session, index, bound_object(object, bind, translated), handle, count);
}

#if MPI_VERSION >= 4
int T_event_handle_alloc(const RealFunctions& next, int index, void* object, MPI_Info info,
                         MPI_T_event_registration* registration) {
  int bind = MPI_T_BIND_NO_OBJECT;
  if (object != nullptr)
    PMPI_T_event_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                          nullptr, &bind);
  MPI_Comm translated = MPI_COMM_NULL;
  return next.T_event_handle_alloc(index, bound_object(object, bind, translated), info, registration);
}
#endif

// Its other arguments mean nothing to the library and cannot be passed on.
int Pcontrol(const RealFunctions& next, int level) { return next.Pcontrol(level); }

}  // namespace ardoise::vmpi::special
