// Bytes of the message, or of the file access, that a status describes.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace ardoise::vmpi {

inline std::int64_t received_bytes(const MPI_Status& status) {
#ifdef OPEN_MPI
  return static_cast<std::int64_t>(status._ucount);  // what PMPI_Get_elements_x(MPI_BYTE) reads, in a few cycles
#else
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes < 0 ? 0 : static_cast<std::int64_t>(bytes);
#endif
}

}  // namespace ardoise::vmpi
