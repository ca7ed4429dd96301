// Sizes of datatypes for byte counts. Predefined ones come from a small table that MPI_Init fills and that is read-only
// afterwards; their handles never change. All others are queried from MPI each time.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace ardoise::vmpi {

namespace type_sizes {

struct Entry {
  MPI_Datatype type;
  std::int64_t size;
};
inline constexpr unsigned kEntries = 512;         // a power of two, several times the number of predefined types
inline constexpr MPI_Fint kFortranEntries = 128;  // Fortran handles below this are looked up directly
extern Entry entries[kEntries];
extern std::int32_t fortran_sizes[kFortranEntries];  // -1: not predefined

inline unsigned slot(MPI_Datatype type) {
#ifdef OPEN_MPI  // an address
  const auto bits = reinterpret_cast<std::uintptr_t>(reinterpret_cast<void*>(type));
  return static_cast<unsigned>((bits >> 4 ^ bits >> 13) * 0x9E3779B1u >> 7) & (kEntries - 1);
#else  // a number
  static_assert(kEntries == 1u << (32 - 23));
  return static_cast<unsigned>(type) * 0x9E3779B1u >> 23;
#endif
}
std::int64_t ask(MPI_Datatype type) noexcept;      // 0 for MPI_DATATYPE_NULL
std::int64_t ask_fortran(MPI_Fint type) noexcept;  // 0 for MPI_DATATYPE_NULL

// After the real MPI_Init, before any call is observed.
void initialise() noexcept;

}  // namespace type_sizes

inline std::int64_t type_size(MPI_Datatype type) {
  const auto& entry = type_sizes::entries[type_sizes::slot(type)];
  return entry.type == type ? entry.size : type_sizes::ask(type);
}

inline std::int64_t fortran_type_size(MPI_Fint type) {
#ifndef OPEN_MPI  // the same number in both languages
  return type_size(type);
#else
  if (type >= 0 && type < type_sizes::kFortranEntries && type_sizes::fortran_sizes[type] >= 0)
    return type_sizes::fortran_sizes[type];
  return type_sizes::ask_fortran(type);
#endif
}

}  // namespace ardoise::vmpi
