// Queries about loaded libraries, to find the functions behind ours.
#pragma once

#include <link.h>

#include <cstddef>

namespace ardoise::vmpi {

// Compares two names. Not strcmp: a sanitizer in the program has its own, which does not work yet at its first lookup.
inline bool is_same(const char* left, const char* right) noexcept {
  while (*left != '\0' && *left == *right) ++left, ++right;
  return *left == *right;
}

// The library or program that contains this address; nullptr: none. link_maps are linked in symbol search order, those
// opened with dlopen last.
const link_map* link_map_of(const void* address) noexcept;

// The library's own definition of this name, in its default version; nullptr: none. Uses no dlsym and leaves dlerror
// alone.
void* definition_in(const link_map& library, const char* name) noexcept;

// Load address of the library or program that contains this address; nullptr: none.
const void* base_of(const void* address) noexcept;

// Number of bytes from `address` to the end of the library.
std::size_t size_of(const void* address) noexcept;

// A dlsym handle for the library that contains this address, which stays loaded; nullptr: none.
void* handle_of(const void* address) noexcept;

// True: the library that contains this address imports a function of this name.
bool imports(const void* address, const char* name) noexcept;

// The MPI library's function `name`, found through its PMPI_ twin, which no tool defines; nullptr: none.
void* find_in_mpi_library(const char* name) noexcept;

// A second copy of these wrappers (a program linked to libvmpi, under libardoise), which must not be called; nullptr:
// none.
const void* base_of_second_copy() noexcept;

}  // namespace ardoise::vmpi
