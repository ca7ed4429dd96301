// Names and categories of the functions in records and totals, for reports. The numbers of MPI functions are those of
// the generated table; a pack that was made with another table is refused by its hash.
#pragma once

#include <cstdint>
#include <string>

#include "instrument/format/event_format.hpp"

namespace ardoise::knowledge_sources {

struct FunctionInfo {
  std::string name;      // "MPI_Send", "write"
  std::string category;  // "point-to-point", "collective", "wait", "io", …; POSIX: "metadata", "read", "write", "sync"
};

// An unknown number gives a name that says so.
[[nodiscard]] FunctionInfo function_info(instrument::PackClass record_class, std::uint32_t function);

// Hash of the table this program was built with: what PackHeader::table_hash must be.
[[nodiscard]] std::uint32_t mpi_table_hash();

}  // namespace ardoise::knowledge_sources
