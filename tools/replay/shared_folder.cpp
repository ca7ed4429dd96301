#include "tools/replay/shared_folder.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "tools/replay/scratch_file.hpp"

namespace ardoise::replay {

SharedFolder::SharedFolder(const std::filesystem::path& scratch, bool is_needed) {
  int needed = is_needed ? 1 : 0, rank = 0, error = 0;
  PMPI_Allreduce(MPI_IN_PLACE, &needed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (needed == 0) return;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string name = (scratch / "ardoise-replay-XXXXXX").string();
  if (rank == 0) {
    is_own_ = ::mkdtemp(name.data()) != nullptr;
    if (!is_own_) error = errno;
  }
  PMPI_Bcast(&error, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (error != 0)
    throw ReplayError(
        fmt::format("cannot create a folder in '{}': {} (--scratch)", scratch.string(), std::strerror(error)));
  // The same length in all ranks, which got the same options.
  PMPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  path_ = name;
}

SharedFolder::~SharedFolder() {
  std::error_code ignored;
  if (is_own_) std::filesystem::remove_all(path_, ignored);
}

}  // namespace ardoise::replay
