#include "vmpi/wrappers/fortran_handles.hpp"

#include <atomic>
#include <cstdint>

#include "vmpi/export.hpp"
#include "vmpi/loader/loaded_library.hpp"
#include "vmpi/real_functions.hpp"
#include "vmpi/world/world.hpp"

extern "C" {
// The spellings of Fortran compilers for the common blocks; a program has at most one of them.
extern int mpi_fortran_in_place __attribute__((weak));
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_in_place__ __attribute__((weak));
extern int MPI_FORTRAN_IN_PLACE __attribute__((weak));
extern int mpi_fortran_bottom __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));
extern int mpi_fortran_bottom__ __attribute__((weak));
extern int MPI_FORTRAN_BOTTOM __attribute__((weak));
#ifndef OPEN_MPI
// MPICH's Fortran layer stores at its first call where a program has its MPI_IN_PLACE and the other sentinels.
extern void* MPIR_F_MPI_IN_PLACE __attribute__((weak));
extern void* MPIR_F_MPI_BOTTOM __attribute__((weak));
extern int MPIR_F_NeedInit __attribute__((weak));
void mpirinitf_() __attribute__((weak));
#endif
}

namespace ardoise::vmpi {
namespace {

#ifdef OPEN_MPI
// Address range of MPI's Fortran library; both 0 until it is called. It stays loaded: handle_of() keeps it.
std::atomic<std::uintptr_t> fortran_library_begin{0};
std::atomic<std::uintptr_t> fortran_library_size{0};

// Slow path: the library's first call, and calls of others before that.
[[gnu::noinline]] bool is_fortran_library(const void* caller) noexcept {
  const link_map* const library = link_map_of(caller);
  if (library == nullptr || definition_in(*library, "pmpi_initialized_") == nullptr || handle_of(caller) == nullptr)
    return false;
  fortran_library_begin.store(reinterpret_cast<std::uintptr_t>(base_of(caller)), std::memory_order_relaxed);
  fortran_library_size.store(size_of(caller), std::memory_order_release);
  return true;
}

bool is_called_by_fortran_library(const void* caller) noexcept {
  const std::uintptr_t size = fortran_library_size.load(std::memory_order_acquire);
  const auto offset = reinterpret_cast<std::uintptr_t>(caller) - fortran_library_begin.load(std::memory_order_relaxed);
  if (offset < size) [[likely]]
    return true;
  return size == 0 && is_fortran_library(caller);
}
#endif

}  // namespace

#ifdef OPEN_MPI
MPI_Comm real_comm_f2c(MPI_Fint comm) noexcept { return library.Comm_f2c(comm); }
MPI_Fint real_comm_c2f(MPI_Comm comm) noexcept { return library.Comm_c2f(comm); }
#else  // handles of MPICH are Fortran's integers
MPI_Comm real_comm_f2c(MPI_Fint comm) noexcept { return PMPI_Comm_f2c(comm); }
MPI_Fint real_comm_c2f(MPI_Comm comm) noexcept { return PMPI_Comm_c2f(comm); }
#endif

MPI_Fint fortran_world() noexcept {
#ifdef OPEN_MPI
  return 0;
#else
  return real_comm_c2f(MPI_COMM_WORLD);
#endif
}

MPI_Comm comm_from_fortran(MPI_Fint comm) noexcept {
  return comm == fortran_world() ? to_library(MPI_COMM_WORLD) : real_comm_f2c(comm);
}

MPI_Fint comm_to_fortran(MPI_Comm comm) noexcept { return real_comm_c2f(to_program(comm)); }

void learn_fortran_sentinels() noexcept {
#ifndef OPEN_MPI
  if (&MPIR_F_NeedInit == nullptr || mpirinitf_ == nullptr || MPIR_F_NeedInit == 0) return;
  mpirinitf_();
  MPIR_F_NeedInit = 0;
#endif
}

bool is_fortran_in_place(const void* buffer) noexcept {
#ifndef OPEN_MPI
  if (buffer == &MPIR_F08_MPI_IN_PLACE) return true;
  return buffer != nullptr && &MPIR_F_MPI_IN_PLACE != nullptr && buffer == MPIR_F_MPI_IN_PLACE;
#else
  return buffer != nullptr && (buffer == &mpi_fortran_in_place_ || buffer == &mpi_fortran_in_place ||
                               buffer == &mpi_fortran_in_place__ || buffer == &MPI_FORTRAN_IN_PLACE);
#endif
}

bool is_fortran_bottom(const void* buffer) noexcept {
#ifndef OPEN_MPI
  return buffer != nullptr && &MPIR_F_MPI_BOTTOM != nullptr && buffer == MPIR_F_MPI_BOTTOM;
#else
  return buffer != nullptr && (buffer == &mpi_fortran_bottom_ || buffer == &mpi_fortran_bottom ||
                               buffer == &mpi_fortran_bottom__ || buffer == &MPI_FORTRAN_BOTTOM);
#endif
}

}  // namespace ardoise::vmpi

// In Open MPI's Fortran libraries every communicator passes through these two. In MPICH they are macros.
#ifdef OPEN_MPI
#undef PMPI_Comm_f2c
#undef PMPI_Comm_c2f
// A program or tool that calls PMPI_Comm_f2c itself gets MPI_COMM_WORLD, which it may compare.
VMPI_EXPORT MPI_Comm PMPI_Comm_f2c(MPI_Fint comm) {
  using namespace ardoise::vmpi;
  if (comm != fortran_world()) return library.Comm_f2c(comm);
  return is_called_by_fortran_library(__builtin_return_address(0)) ? to_library(MPI_COMM_WORLD) : MPI_COMM_WORLD;
}
VMPI_EXPORT MPI_Fint PMPI_Comm_c2f(MPI_Comm comm) { return ardoise::vmpi::comm_to_fortran(comm); }
#endif
