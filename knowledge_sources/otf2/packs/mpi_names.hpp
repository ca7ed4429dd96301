// Functions of MPI by the names that tools give them in traces.
#pragma once

#include <optional>
#include <string_view>

#include "vmpi/mpi_functions.hpp"

namespace ardoise::knowledge_sources {

// "MPI_Send", "MPI_Send()", "mpi_send_", "PMPI_Send"; nullopt: none of MPI's.
[[nodiscard]] std::optional<vmpi::FunctionId> mpi_function(std::string_view name);

}  // namespace ardoise::knowledge_sources
