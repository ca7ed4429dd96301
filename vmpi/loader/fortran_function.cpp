#include "vmpi/loader/fortran_function.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "vmpi/loader/loaded_library.hpp"

namespace ardoise::vmpi {
namespace {

bool is_ours(const void* address) {
  const void* const base = base_of(address);
  return base == base_of(reinterpret_cast<const void*>(&find_fortran_function)) || base == base_of_second_copy();
}

void* unless_ours(void* address) { return address == nullptr || is_ours(address) ? nullptr : address; }

// Libraries of mpif.h and mpi_f08, and room for two more; filled from the front. Acquire: the library behind the handle
// is loaded.
std::array<std::atomic<void*>, 4> remembered{};

void* find_in_remembered(const char* twin) {
  for (const auto& each : remembered) {
    void* const handle = each.load(std::memory_order_acquire);
    if (handle == nullptr) break;
    if (void* const found = unless_ours(dlsym(handle, twin))) return found;
  }
  return nullptr;
}

void* find_in_library(const char* twin, const void* caller) {
  if (void* const found = unless_ours(dlsym(RTLD_NEXT, twin))) return found;
  // A routine that we never define locates the library even when a second copy of ours hides its others.
  if (void* const handle = handle_of(dlsym(RTLD_NEXT, "pmpi_initialized_"))) {
    if (void* const found = unless_ours(dlsym(handle, twin))) return found;
  }
  if (void* const found = unless_ours(dlsym(RTLD_DEFAULT, twin))) return found;
  // The caller was loaded with RTLD_LOCAL: its own dependencies have the routine.
  if (void* const handle = handle_of(caller)) {
    if (void* const found = unless_ours(dlsym(handle, twin))) return found;
  }
  return find_in_remembered(twin);
}

// For a caller that got the address elsewhere: interpreters call what the modules that they opened register.
void* find_in_any_module(const char* name) {
  const link_map* map = link_map_of(reinterpret_cast<const void*>(&find_fortran_function));
  while (map != nullptr && map->l_prev != nullptr) map = map->l_prev;
  for (; map != nullptr; map = map->l_next) {
    if (void* const found = unless_ours(definition_in(*map, name))) return found;
  }
  return nullptr;
}

}  // namespace

void remember_fortran_library(const void* address) noexcept {
  void* const handle = handle_of(address);
  if (handle == nullptr) return;
  for (auto& each : remembered) {
    void* expected = nullptr;
    if (each.compare_exchange_strong(expected, handle, std::memory_order_acq_rel)) return;
    if (expected == handle) break;
  }
  dlclose(handle);  // known already
}

Definition find_other_definition(const char* name, const void* caller) noexcept {
  if (void* const next = unless_ours(dlsym(RTLD_NEXT, name))) return {next, true};
  if (void* const handle = handle_of(caller)) {
    if (void* const found = unless_ours(dlsym(handle, name))) return {found, false};
  }
  return {find_in_any_module(name), false};
}

bool has_fortran_library(const void* caller) noexcept {
  return find_in_library("pmpi_initialized_", caller) != nullptr;
}

void* find_fortran_function(const char* name, const char* twin, const void* caller) noexcept {
  void* const library = find_in_library(twin, caller);
  if (name != twin) {
    void* const next = unless_ours(dlsym(RTLD_NEXT, name));
    // In the library mpi_x_ and pmpi_x_ are in one file, and usually one function.
    if (next != nullptr && base_of(next) != base_of(library)) return next;
  }
  if (library != nullptr) return library;
  std::fprintf(stderr, "ardoise: no loaded library defines %s, which the program calls.\n", twin);
  std::abort();
}

}  // namespace ardoise::vmpi
