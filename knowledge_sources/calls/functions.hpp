// Names and categories of the functions in records and totals, for reports. Numbers of MPI functions are those of the
// generated table; packs made with another table are rejected by its hash.
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

// Hash of this program's table, which PackHeader::table_hash must equal.
[[nodiscard]] std::uint32_t mpi_table_hash();

}  // namespace ardoise::knowledge_sources
