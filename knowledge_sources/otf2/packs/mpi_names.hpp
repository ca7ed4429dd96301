// MPI functions by the names that tools use in traces.
#pragma once

#include <optional>
#include <string_view>

#include "vmpi/mpi_functions.hpp"

namespace ardoise::knowledge_sources {

// "MPI_Send", "MPI_Send()", "mpi_send_", "PMPI_Send"; nullopt: no MPI function.
[[nodiscard]] std::optional<vmpi::FunctionId> mpi_function(std::string_view name);

}  // namespace ardoise::knowledge_sources
