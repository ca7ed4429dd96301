// What the launcher must know of a program before it preloads anything into it: which shared libraries it will load and
// whether it has an MPI built in. Read with libelf; the program is never run (ldd would).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ardoise::launcher {

struct ElfFile {
  bool dynamic = false;              // has a program interpreter: LD_PRELOAD works
  bool defines_mpi = false;          // has PMPI_Init itself: MPI is linked statically
  std::vector<std::string> needed;   // DT_NEEDED
  std::vector<std::string> runpath;  // DT_RUNPATH or DT_RPATH, $ORIGIN replaced
};

// Nothing: not an ELF file (a script) or not readable.
[[nodiscard]] std::optional<ElfFile> read_elf(const std::string& path);

// The MPI libraries ("libmpi.so.40", "libmpich.so.12") among the libraries that the program at `path` loads, directly
// or through others, as far as they are found where the loader looks: run paths, LD_LIBRARY_PATH, ld.so.conf.
[[nodiscard]] std::vector<std::string> mpi_libraries_of(const std::string& path);

// Is this the name of an MPI library proper (not of its Fortran or C++ layer)?
[[nodiscard]] bool is_mpi_library(const std::string& soname);

}  // namespace ardoise::launcher
