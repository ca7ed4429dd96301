// The library's Fortran routines for the wrappers. A C program has none, and a Fortran library may be loaded later by
// dlopen: each routine is looked up at its first call.
#pragma once

#define VMPI_FORTRAN_ALIAS(alias_name, name) \
  extern "C" __attribute__((alias(#name), visibility("default"))) decltype(name) alias_name;

namespace ardoise::vmpi {

// The function behind our routine `name` ("mpi_send_"): that of the next preloaded tool, else the library's `twin`
// ("pmpi_send_"); for name == twin always the library's. Never returns nullptr: a caller of a Fortran routine has a
// library with it.
void* find_fortran_function(const char* name, const char* twin, const void* caller) noexcept;

// The function that the caller of `name` would call without us; nullptr: none is loaded.
struct Definition {
  void* address = nullptr;
  bool is_for_all = false;  // valid for all callers, not only for the module of this one
};
Definition find_other_definition(const char* name, const void* caller) noexcept;

// True: the caller has a Fortran library of MPI.
bool has_fortran_library(const void* caller) noexcept;

// Registers a Fortran library of MPI that the program opened itself, to be searched last. `address` lies in it. The
// library stays loaded from now on.
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
