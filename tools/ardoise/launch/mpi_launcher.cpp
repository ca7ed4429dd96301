#include "tools/ardoise/launch/mpi_launcher.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <system_error>

#include "tools/ardoise/common/process.hpp"

namespace ardoise::launcher {

void check_launcher_name(const std::string& word) {
  const auto name = std::filesystem::path(word).filename().string();
  if (name == "srun") {
    throw UsageError(
        "srun starts one program on all its ranks and leaves no room for the analyzers; inside the allocation "
        "(salloc, sbatch) use mpirun instead: ardoise mpirun -n 4 ./program");
  }
  for (const auto* known : {"mpirun", "mpiexec", "orterun", "prterun"}) {
    if (name.starts_with(known)) return;
  }
  if (name.starts_with('-')) throw UsageError(fmt::format("there is no option '{}'; see ardoise --help.", word));
  throw UsageError(
      fmt::format("'{0}' is no launcher of MPI programs; put it behind one: ardoise mpirun -n 4 {0}", word));
}

MpiLauncher read_version(const std::string& output) {
  MpiLauncher found;
  const auto line = output.substr(0, output.find('\n'));
  const auto at = line.find(") ");
  for (const char* name : {"Open MPI", "OpenRTE", "PRTE"}) found.open_mpi |= line.find(name) != std::string::npos;
  found.hydra = output.find("HYDRA build details") != std::string::npos;
  if (found.open_mpi && at != std::string::npos) {
    const char* const end = line.data() + line.size();
    const auto major = std::from_chars(line.data() + at + 2, end, found.major);
    if (major.ptr != end && *major.ptr == '.') std::from_chars(major.ptr + 1, end, found.minor);
  }
  return found;
}

std::string family_of(const std::string& mpi_library) {
  return mpi_library.starts_with("libmpich.") ? "MPICH" : "Open MPI";
}

MpiLauncher identify_launcher(const std::string& launcher) {
  try {
    return read_version(run_and_read({launcher, "--version"}).output);
  } catch (const std::system_error&) {
    throw UsageError(
        fmt::format("there is no '{}'; install the MPI that Ardoise was built for (Debian: openmpi-bin or mpich) or "
                    "give the path of "
                    "its mpirun.",
                    launcher));
  }
}

}  // namespace ardoise::launcher
