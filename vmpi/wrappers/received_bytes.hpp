// Bytes of the message, or of the file access, that a status describes.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace ardoise::vmpi {

inline std::int64_t received_bytes(const MPI_Status& status) {
#ifdef OPEN_MPI
  return static_cast<std::int64_t>(status._ucount);  // what PMPI_Get_elements_x(MPI_BYTE) reads, in a few cycles
#else
  // MPICH: the lowest bit of the upper half says whether the operation was cancelled.
  const auto high = static_cast<std::uint32_t>(status.count_hi_and_cancelled) >> 1;
  return static_cast<std::int64_t>(std::uint64_t{high} << 32 | static_cast<std::uint32_t>(status.count_lo));
#endif
}

}  // namespace ardoise::vmpi
