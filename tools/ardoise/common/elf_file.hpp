// What the launcher must know of a program before it preloads anything into it: which shared libraries it will load and
// what is built into it. Read with libelf; the libraries are listed by the program's own loader, which does not run it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ardoise::launcher {

struct ElfFile {
  std::string loader;        // the program interpreter; "": linked statically (or a library), LD_PRELOAD means nothing
  std::string build_id;      // hex; "": it has none
  bool defines_mpi = false;  // has PMPI_Init itself: MPI is linked statically
};

// Nothing: not an ELF file (a script) or not readable.
[[nodiscard]] std::optional<ElfFile> read_elf(const std::string& path);

struct Library {
  std::string name;  // "libmpi.so.40"
  std::string path;  // where the loader finds it; "": nowhere
};

// What `loader` loads for the program or library at `path`, directly or through others. Empty where the loader cannot
// say it (another architecture).
[[nodiscard]] std::vector<Library> libraries_of(const std::string& path, const std::string& loader);

// Name of the first MPI library proper among them (not its Fortran or C++ layer), or "".
[[nodiscard]] std::string mpi_library_among(const std::vector<Library>& libraries);

}  // namespace ardoise::launcher
