// Reads from a program what the launcher checks before it preloads a library: the shared libraries that will be loaded,
// and what is linked statically. Uses libelf. The program's own loader lists the libraries without running it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ardoise::launcher {

struct ElfFile {
  std::string loader;        // program interpreter; "": static program (or a library), LD_PRELOAD has no effect
  std::string build_id;      // hex; "": none
  bool defines_mpi = false;  // defines PMPI_Init: MPI is linked statically
};

// nullopt: not an ELF file (a script), or not readable.
[[nodiscard]] std::optional<ElfFile> read_elf(const std::string& path);

struct Library {
  std::string name;  // "libmpi.so.40"
  std::string path;  // where the loader finds it; "": not found
};

// Libraries that `loader` loads for the program or library at `path`, directly or through others. Empty if the loader
// cannot list them (another architecture).
[[nodiscard]] std::vector<Library> libraries_of(const std::string& path, const std::string& loader);

// Name of the first MPI library among them, or "". Its Fortran and C++ layers do not count.
[[nodiscard]] std::string mpi_library_among(const std::vector<Library>& libraries);

}  // namespace ardoise::launcher
