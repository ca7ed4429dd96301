// Callbacks of programs that use the C++ bindings (removed from MPI in 2012, still in Open MPI 4.1). libmpi_cxx
// registers them with inner functions of libmpi, past every MPI_*: libmpi calls functions of libmpi_cxx, which make C++
// objects of their arguments and call the program's. libmpi finds those by symbol name, so ours come first, and pass
// MPI_COMM_WORLD on.
#include <dlfcn.h>
#include <mpi.h>

#include "vmpi/export.hpp"
#include "vmpi/world/world.hpp"

#if defined(OPEN_MPI)

namespace ardoise::vmpi {
namespace {

// Behind us among the program's libraries, or loaded privately by a library of the program.
template <class Function>
Function* next(const char* name) noexcept {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    if (void* const library = dlopen("libmpi_cxx.so.40", RTLD_LAZY | RTLD_NOLOAD)) {
      found = dlsym(library, name);
      dlclose(library);
    }
  }
  return reinterpret_cast<Function*>(found);
}

using ErrorHandler = void(MPI_Comm* comm, int* code, const char* message, void* function);
using CopyAttribute = int(MPI_Comm from, int keyval, void* extra, void* in, void* out, int* flag, MPI_Comm to);
using DeleteAttribute = int(MPI_Comm comm, int keyval, void* value, void* extra);

}  // namespace
}  // namespace ardoise::vmpi

using ardoise::vmpi::to_program;

VMPI_EXPORT void ompi_mpi_cxx_comm_errhandler_invoke(MPI_Comm* comm, int* code, const char* message, void* function) {
  static auto* const real = ardoise::vmpi::next<ardoise::vmpi::ErrorHandler>("ompi_mpi_cxx_comm_errhandler_invoke");
  MPI_Comm seen = to_program(*comm);
  if (real != nullptr) real(&seen, code, message, function);
}

VMPI_EXPORT int ompi_mpi_cxx_comm_copy_attr_intercept(MPI_Comm from, int keyval, void* extra, void* in, void* out,
                                                      int* flag, MPI_Comm to) {
  static auto* const real = ardoise::vmpi::next<ardoise::vmpi::CopyAttribute>("ompi_mpi_cxx_comm_copy_attr_intercept");
  return real != nullptr ? real(to_program(from), keyval, extra, in, out, flag, to) : MPI_ERR_INTERN;
}

VMPI_EXPORT int ompi_mpi_cxx_comm_delete_attr_intercept(MPI_Comm comm, int keyval, void* value, void* extra) {
  static auto* const real =
      ardoise::vmpi::next<ardoise::vmpi::DeleteAttribute>("ompi_mpi_cxx_comm_delete_attr_intercept");
  return real != nullptr ? real(to_program(comm), keyval, value, extra) : MPI_ERR_INTERN;
}

#endif
