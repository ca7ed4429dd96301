// The library's Fortran routines as the wrappers call them. They are weak: a C program has none of them. When a Fortran
// library comes later, by dlopen, they are looked up in it at the first call.
#pragma once

#define VMPI_FORTRAN_ALIAS(alias_name, name) \
  extern "C" __attribute__((alias(#name), visibility("default"))) decltype(name) alias_name;

namespace ardoise::vmpi {

// Never returns without an address: a caller of a Fortran routine has a library with it.
void* find_fortran_function(const char* name, const void* caller) noexcept;

template <class Function>
inline Function fortran_function(Function& slot, const char* name, const void* caller) {
  Function function = __atomic_load_n(&slot, __ATOMIC_RELAXED);
  if (function == nullptr) [[unlikely]] {
    function = reinterpret_cast<Function>(find_fortran_function(name, caller));
    __atomic_store_n(&slot, function, __ATOMIC_RELAXED);  // every thread finds the same
  }
  return function;
}

}  // namespace ardoise::vmpi
