// See mpi_library.hpp. The next definition of PMPI_x may be that of a second copy of ours. The library is where a PMPI_
// function is that we never define.
#include "vmpi/wrappers/mpi_library.hpp"

#include <dlfcn.h>

#include <cstdio>

#include "vmpi/loader/loaded_library.hpp"

namespace ardoise::vmpi {

void* find_in_mpi_library(const char* name) noexcept {
  static void* const handle = handle_of(dlsym(RTLD_NEXT, "PMPI_Aint_add"));
  char twin[128];
  std::snprintf(twin, sizeof twin, "P%s", name);
  if (handle != nullptr) {
    if (void* const found = dlsym(handle, twin)) return found;
  }
  return dlsym(RTLD_NEXT, twin);
}

}  // namespace ardoise::vmpi
