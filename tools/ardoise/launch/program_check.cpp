#include "tools/ardoise/launch/program_check.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tools/ardoise/common/elf_file.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::string find_program(const AppContext& context) {
  const auto* directory = context.find({"wdir", "wd"});
  const fs::path base = directory != nullptr ? fs::absolute(directory->value()) : fs::current_path();
  const fs::path program = context.program;
  std::error_code ignored;
  if (context.program.find('/') != std::string::npos) {
    const auto path = base / program;
    if (!fs::exists(path, ignored)) {
      throw UsageError(fmt::format("there is no program '{}'; check its name on the launch line.", context.program));
    }
    if (!is_program(path)) {
      throw UsageError(
          fmt::format("'{}' is not an executable program; check its name, or chmod +x it.", context.program));
    }
    return path.string();
  }
  const auto* option = context.find({"path"});
  const char* variable = std::getenv("PATH");
  std::istringstream paths(option != nullptr ? option->value() : variable != nullptr ? variable : "");
  for (std::string path; std::getline(paths, path, ':');) {
    if (!path.empty() && is_program(fs::path(path) / program)) return (fs::path(path) / program).string();
  }
  if (is_program(base / program)) return (base / program).string();
  throw UsageError(
      fmt::format("there is no program '{}' in PATH or in the working directory; check its name on the launch line.",
                  context.program));
}

}  // namespace

ProgramCheck check_program(const AppContext& context, const std::string& own_mpi) {
  ProgramCheck check{find_program(context), std::nullopt, {}, false};
  const auto file = read_elf(check.path);
  if (!file) return check;  // a script: the programs that it starts inherit the preload
  if (file->defines_mpi) {
    check.not_measurable =
        fmt::format("'{}' has its MPI linked statically, so its calls cannot be seen", context.program);
    return check;
  }
  if (file->loader.empty()) {
    check.not_measurable =
        fmt::format("'{}' is linked statically, so nothing can be preloaded into it", context.program);
    return check;
  }
  const auto libraries = libraries_of(check.path, file->loader);
  for (const auto& library : libraries) {
    if (library.name.starts_with("libasan.so")) check.sanitizer = library.path;
  }
  const auto mpi = mpi_library_among(libraries);
  check.is_mpi_program = !mpi.empty();
  if (!mpi.empty() && mpi != own_mpi) {
    check.not_measurable =
        fmt::format("'{}' uses the MPI library {}, and this Ardoise was built for {}", context.program, mpi, own_mpi);
  }
  return check;
}

}  // namespace ardoise::launcher
