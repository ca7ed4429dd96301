// Makes the output folder; see output_folder.hpp.
#include "tools/ardoise/output_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "tools/ardoise/launch_line.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw UsageError(fmt::format("the folder '{}' cannot be written: {}; name another one.", path.string(), why));
}

// Permission bits do not tell (root, read-only mounts, full disks): a file does.
void try_writing(const fs::path& folder) {
  auto name = (folder / ".ardoise-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) refuse(folder, std::generic_category().message(errno));
  const bool written = ::write(file, "x", 1) == 1;
  const int error = errno;
  ::close(file);
  ::unlink(name.c_str());
  if (!written) refuse(folder, std::generic_category().message(error));
}

}  // namespace

OutputFolder make_output_folder(const fs::path& wished) {
  auto base = fs::absolute(wished).lexically_normal();
  if (!base.has_filename()) base = base.parent_path();  // "reports/"
  constexpr int kMostReports = 100000;
  for (int number = 1; number < kMostReports; ++number) {
    const auto path = number == 1 ? base : fs::path(fmt::format("{}-{}", base.string(), number));
    std::error_code error;
    const bool made = fs::create_directories(path, error);
    if (error) refuse(path, error.message());
    if (!made && !fs::is_empty(path, error)) continue;
    try {
      try_writing(path);
    } catch (...) {
      if (made) fs::remove(path, error);
      throw;
    }
    return {path, number > 1, made};
  }
  refuse(base, "it and all its numbered neighbours are taken");
}

void make_writable_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse(folder, error.message());
  try_writing(folder);
}

void remove_if_empty(const OutputFolder& folder) {
  std::error_code ignored;
  if (folder.made) fs::remove(folder.path, ignored);  // fails, as it should, when something is in it
}

}  // namespace ardoise::launcher
