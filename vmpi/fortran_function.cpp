// See fortran_function.hpp.
#include "vmpi/fortran_function.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace ardoise::vmpi {

void* find_fortran_function(const char* name, const void* caller) noexcept {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  // The caller was loaded with RTLD_LOCAL: its own dependencies have the routine.
  Dl_info caller_library;
  if (dladdr(caller, &caller_library) != 0) {
    if (void* library = dlopen(caller_library.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) {
      void* found = dlsym(library, name);
      dlclose(library);
      if (found != nullptr) return found;
    }
  }
  std::fprintf(stderr, "ardoise: no loaded library defines %s, which the program has called.\n", name);
  std::abort();
}

}  // namespace ardoise::vmpi
