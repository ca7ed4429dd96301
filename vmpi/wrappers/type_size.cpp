#include "vmpi/wrappers/type_size.hpp"

#include "vmpi/wrappers/type_runs.hpp"

namespace ardoise::vmpi::type_sizes {

Entry entries[kEntries];
std::int32_t fortran_sizes[kFortranEntries];

namespace {

std::int64_t size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return static_cast<std::int64_t>(size);
}

}  // namespace

std::int64_t ask(MPI_Datatype type) noexcept {
  const std::int64_t size = size_of(type);
  if (size != 0) type_runs::use(type);
  return size;
}

std::int64_t ask_fortran(MPI_Fint type) noexcept { return ask(PMPI_Type_f2c(type)); }

void initialise() noexcept {
  // When two types share a slot, the first one keeps it: frequent types come first.
  const MPI_Datatype predefined[] = {MPI_DOUBLE,
                                     MPI_INT,
                                     MPI_BYTE,
                                     MPI_CHAR,
                                     MPI_FLOAT,
                                     MPI_LONG,
                                     MPI_UNSIGNED_CHAR,
                                     MPI_UNSIGNED,
                                     MPI_UNSIGNED_LONG,
                                     MPI_LONG_LONG,
                                     MPI_INT8_T,
                                     MPI_INT16_T,
                                     MPI_INT32_T,
                                     MPI_INT64_T,
                                     MPI_UINT8_T,
                                     MPI_UINT16_T,
                                     MPI_UINT32_T,
                                     MPI_UINT64_T,
                                     MPI_PACKED,
                                     MPI_SIGNED_CHAR,
                                     MPI_SHORT,
                                     MPI_UNSIGNED_SHORT,
                                     MPI_UNSIGNED_LONG_LONG,
                                     MPI_LONG_DOUBLE,
                                     MPI_WCHAR,
                                     MPI_C_BOOL,
                                     MPI_C_FLOAT_COMPLEX,
                                     MPI_C_DOUBLE_COMPLEX,
                                     MPI_C_LONG_DOUBLE_COMPLEX,
                                     MPI_AINT,
                                     MPI_OFFSET,
                                     MPI_COUNT,
                                     MPI_2INT,
                                     MPI_FLOAT_INT,
                                     MPI_DOUBLE_INT,
                                     MPI_LONG_INT,
                                     MPI_SHORT_INT,
                                     MPI_LONG_DOUBLE_INT,
                                     MPI_INTEGER,
                                     MPI_REAL,
                                     MPI_DOUBLE_PRECISION,
                                     MPI_COMPLEX,
                                     MPI_DOUBLE_COMPLEX,
                                     MPI_LOGICAL,
                                     MPI_CHARACTER,
                                     MPI_2INTEGER,
                                     MPI_2REAL,
                                     MPI_2DOUBLE_PRECISION,
                                     MPI_INTEGER1,
                                     MPI_INTEGER2,
                                     MPI_INTEGER4,
                                     MPI_INTEGER8,
                                     MPI_REAL4,
                                     MPI_REAL8,
                                     MPI_COMPLEX8,
                                     MPI_COMPLEX16};
  for (auto& size : fortran_sizes) size = -1;
  for (const MPI_Datatype type : predefined) {
    if (type == MPI_DATATYPE_NULL) continue;
    const auto size = size_of(type);
    auto& entry = entries[slot(type)];
    if (entry.type == MPI_Datatype{}) entry = {type, size};
    const MPI_Fint number = PMPI_Type_c2f(type);
    if (number >= 0 && number < kFortranEntries) fortran_sizes[number] = static_cast<std::int32_t>(size);
  }
}

}  // namespace ardoise::vmpi::type_sizes
