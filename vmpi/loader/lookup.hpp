// Functions of the MPI library that a program looks up itself, past us, are replaced by ours. Only in preloaded or
// linked libraries (lookup_hooks.cpp), not in our own programs.
#pragma once

namespace ardoise::vmpi {

// Prefix MPI_, MPIX_ or mpi_, also with P or p in front.
[[nodiscard]] bool is_mpi_name(const char* name) noexcept;

// The function to give to the code at `caller` in place of `found`: ours when `found` is a function of the MPI library
// that we wrap, else `found`.
[[nodiscard]] void* served_function(void* found, const char* name, const void* caller) noexcept;

// Redirects MPI calls of a module opened with RTLD_DEEPBIND, whose own scope is searched before us, and of all its
// dependencies to our functions. All other symbols stay bound as they are.
void redirect_deep_bound(void* handle) noexcept;

}  // namespace ardoise::vmpi
