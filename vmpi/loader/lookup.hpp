// Which function a program is to call where it has found one of the MPI library, past us. Of the libraries that are
// preloaded or linked (lookup_hooks.cpp), not in programs of ours.
#pragma once

namespace ardoise::vmpi {

// MPI_, MPIX_, mpi_, and with P or p in front.
[[nodiscard]] bool is_mpi_name(const char* name) noexcept;

// The function that the code around `caller` gets in place of `found`: ours for a function of the MPI library that we
// serve, else the same.
[[nodiscard]] void* served_function(void* found, const char* name, const void* caller) noexcept;

// Has the module, which was opened with RTLD_DEEPBIND by this handle and whose own scope therefore stands ahead of us,
// call ours where it would call the MPI library, and so all that it depends on. All other symbols stay bound as they
// are.
void serve_deep_bound(void* handle) noexcept;

}  // namespace ardoise::vmpi
