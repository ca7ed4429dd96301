// Fails the build when the installed mpi.h declares a function that the table lacks.
#include "vmpi/generator/emit.hpp"

namespace ardoise::generator {

Library library_of(std::string_view preprocessed_header) {
  // Handles of Open MPI are pointers to ompi_ structures.
  return preprocessed_header.find("ompi_communicator_t") == std::string_view::npos ? Library::kMpich
                                                                                   : Library::kOpenMpi;
}

std::vector<Wrapped> match(const Table& table, const std::vector<Prototype>& prototypes) {
  std::vector<Wrapped> wrapped;
  std::string unknown;
  for (const auto& prototype : prototypes) {
    if (table.skips(prototype.name)) continue;
    const Function* const function = table.find(prototype.name);
    if (function == nullptr) {
      unknown += " " + prototype.name;
      continue;
    }
    if (function->kinds.size() != prototype.parameters.size())
      throw TableError("mpi.h declares " + prototype.name + " with " + std::to_string(prototype.parameters.size()) +
                       " parameters, vmpi/wrappers/mpi_functions.table has " + std::to_string(function->kinds.size()) +
                       " kinds for it");
    wrapped.push_back({*function, prototype});
  }
  if (!unknown.empty())
    throw TableError(
        "mpi.h declares functions that vmpi/wrappers/mpi_functions.table lacks; add them, or skip them with a " +
        std::string("reason:") + unknown);
  if (wrapped.empty()) throw TableError("the preprocessed mpi.h declares no MPI function at all");
  return wrapped;
}

}  // namespace ardoise::generator
