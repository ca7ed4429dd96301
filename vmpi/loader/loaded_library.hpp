// Questions about the libraries in this process, for finding what stands behind our functions.
#pragma once

#include <link.h>

#include <cstddef>

namespace ardoise::vmpi {

// Compares two names. Not strcmp: a program with a sanitizer inside has one of its own, which at its first lookup does
// not work yet.
inline bool is_same(const char* left, const char* right) noexcept {
  while (*left != '\0' && *left == *right) ++left, ++right;
  return *left == *right;
}

// The library or program with this address in it; nullptr: none. They are linked in the order in which symbols are
// looked up, those that the program opened itself behind all others.
const link_map* link_map_of(const void* address) noexcept;

// What the library itself defines by this name, in its default version; nullptr: nothing. Without dlsym, and without an
// effect on dlerror.
void* definition_in(const link_map& library, const char* name) noexcept;

// Where the library or program with this address in it is loaded; nullptr: nowhere.
const void* base_of(const void* address) noexcept;

// The number of bytes from there to its end.
std::size_t size_of(const void* address) noexcept;

// A handle for dlsym on the library with this address in it, which is kept loaded; nullptr when it has none.
void* handle_of(const void* address) noexcept;

// True: the library with this address in it calls a function of this name in other libraries.
bool imports(const void* address, const char* name) noexcept;

// The MPI library's function `name`, by way of the twin in PMPI_ that no tool defines; nullptr: it has none.
void* find_in_mpi_library(const char* name) noexcept;

// A second copy of these wrappers (a program linked to libvmpi, under libardoise), which must not be called; nullptr:
// none.
const void* base_of_second_copy() noexcept;

}  // namespace ardoise::vmpi
