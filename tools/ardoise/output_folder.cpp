// See output_folder.hpp.
#include "tools/ardoise/output_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "reports/atomic_file.hpp"
#include "tools/ardoise/launch_line.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw UsageError(fmt::format("the folder '{}' cannot be written: {}; name another one.", path.string(), why));
}

// Makes the file and writes a byte: permission bits do not tell (root, read-only mounts, full disks). Returns 0 or the
// error.
int make_file(const fs::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int error = ::write(file, "\n", 1) == 1 ? 0 : errno;
  if (::close(file) != 0 && error == 0) error = errno;
  if (error != 0) ::unlink(path.c_str());
  return error;
}

// Left for the launch that has claimed a folder by one that made it.
fs::path made_mark_in(const fs::path& folder) { return folder / ".ardoise-made"; }

}  // namespace

fs::path status_file_in(const fs::path& folder) { return folder / ".analyzer-status"; }

OutputFolder::OutputFolder(const fs::path& wished) {
  auto base = fs::absolute(wished).lexically_normal();
  if (!base.has_filename()) base = base.parent_path();  // "reports/"
  constexpr int kMostReports = 100000;
  for (int number = 1; number < kMostReports; ++number) {
    path_ = number == 1 ? base : fs::path(fmt::format("{}-{}", base.string(), number));
    renamed_ = number > 1;
    std::error_code error;
    made_ = fs::create_directories(path_, error);
    if (error) refuse(path_, error.message());
    if (!made_ && !fs::is_empty(path_, error)) continue;
    const int claimed = make_file(status_file_in(path_));
    if (claimed == 0) return;
    if (claimed == EEXIST) {  // by a launch that began at the same time, and that cannot know who made the folder
      if (made_) make_file(made_mark_in(path_));
      continue;
    }
    if (made_) fs::remove(path_, error);
    refuse(path_, std::generic_category().message(claimed));
  }
  refuse(base, "it and all its numbered neighbours are taken");
}

bool remove_claim(const fs::path& folder) {
  std::error_code ignored;
  fs::remove(status_file_in(folder), ignored);
  return fs::remove(made_mark_in(folder), ignored);
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  made_ = remove_claim(path_) || made_;
  // Of analyzers that were killed.
  for (const auto& entry : fs::directory_iterator(path_, ignored)) {
    if (reports::is_half_written(entry.path().filename().string())) fs::remove(entry.path(), ignored);
  }
  if (made_) fs::remove(path_, ignored);  // fails, as it should, when something is in it
}

void make_writable_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse(folder, error.message());
  const auto trial = folder / fmt::format(".ardoise-{}", ::getpid());
  if (const int failed = make_file(trial); failed != 0) refuse(folder, std::generic_category().message(failed));
  fs::remove(trial, error);
}

}  // namespace ardoise::launcher
