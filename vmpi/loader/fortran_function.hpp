// The library's Fortran routines as the wrappers call them. A C program has none of them, and a Fortran library may
// come later, by dlopen: each routine is looked up at its first call.
#pragma once

#define VMPI_FORTRAN_ALIAS(alias_name, name) \
  extern "C" __attribute__((alias(#name), visibility("default"))) decltype(name) alias_name;

namespace ardoise::vmpi {

// What stands behind our routine `name` ("mpi_send_"): that of the next preloaded tool or else the library's `twin`
// ("pmpi_send_"); behind `twin` itself (name == twin) always the library's. Never returns without an address: a caller
// of a Fortran routine has a library with it.
void* find_fortran_function(const char* name, const char* twin, const void* caller) noexcept;

// The function that the caller of `name` would have called without us; nullptr: nothing that is loaded.
struct Definition {
  void* address = nullptr;
  bool is_for_all = false;  // and not for this caller alone, by what its module, or another one, has loaded
};
Definition find_other_definition(const char* name, const void* caller) noexcept;

// True: a Fortran library of MPI is there for the caller.
bool has_fortran_library(const void* caller) noexcept;

// A Fortran library of MPI that the program has opened for itself: where the routines are if nobody else has them.
// `address` is in it; the library stays loaded from now on.
void remember_fortran_library(const void* address) noexcept;

template <class Function>
inline Function fortran_function(Function& slot, const char* name, const char* twin, const void* caller) {
  Function function = __atomic_load_n(&slot, __ATOMIC_RELAXED);
  if (function == nullptr) [[unlikely]] {
    function = reinterpret_cast<Function>(find_fortran_function(name, twin, caller));
    __atomic_store_n(&slot, function, __ATOMIC_RELAXED);  // every thread finds the same
  }
  return function;
}

}  // namespace ardoise::vmpi
