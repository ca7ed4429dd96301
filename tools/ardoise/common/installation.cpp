#include "tools/ardoise/common/installation.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "tools/ardoise/common/elf_file.hpp"
#include "tools/ardoise/common/usage_error.hpp"

namespace ardoise::launcher {

Installation find_installation() {
  namespace fs = std::filesystem;
  const auto here = fs::read_symlink("/proc/self/exe").parent_path();
  std::error_code ignored;
  Installation found;
  // ARDOISE_LIBRARY_PATH is the relative path from the folder of executables to that of libraries in an installation.
  for (const auto& folder : {here / "../lib", here / ARDOISE_LIBRARY_PATH}) {
    const auto library = (folder / "libardoise.so").lexically_normal();
    if (found.preload_library.empty() && fs::exists(library, ignored)) found.preload_library = library;
  }
  if (found.preload_library.empty()) {
    throw UsageError(fmt::format("libardoise.so is not in '{}'; install Ardoise again.",
                                 (here / "../lib").lexically_normal().string()));
  }
  found.analyzer = here / "ardoise-analyzer";
  if (!fs::exists(found.analyzer, ignored)) {
    throw UsageError(fmt::format("ardoise-analyzer is not in '{}'; install Ardoise again.", here.string()));
  }
  if (const auto self = read_elf("/proc/self/exe"))
    found.mpi_library = mpi_library_among(libraries_of(found.preload_library, self->loader));
  return found;
}

}  // namespace ardoise::launcher
