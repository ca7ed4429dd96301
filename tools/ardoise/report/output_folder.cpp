#include "tools/ardoise/report/output_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "analyzer/output_folder/own_files.hpp"
#include "reports/atomic_file.hpp"
#include "tools/ardoise/common/usage_error.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw UsageError(fmt::format("the folder '{}' cannot be written: {}; name another one.", path.string(), why));
}

// Makes the file and writes a byte. Permission bits are not enough (root, read-only mounts, full disks). Returns 0 or
// the error.
int make_file(const fs::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  int error = ::write(file, "\n", 1) == 1 ? 0 : errno;
  if (::close(file) != 0 && error == 0) error = errno;
  if (error != 0) ::unlink(path.c_str());
  return error;
}

// Reason why a launch does not take an existing folder; "": it does. A link is followed if this user made it.
std::string fault_of(const fs::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return std::generic_category().message(errno);
  if (S_ISLNK(found.st_mode) && found.st_uid != ::geteuid()) return "is another user's link";
  if (::stat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return "is no folder";
  if (std::string fault = analyzer::fault_of_folder(path); !fault.empty()) return fault;
  std::error_code error;
  return fs::is_empty(path, error) ? "" : "is taken";
}

// Marker for the launch that claimed a folder which another launch made.
fs::path made_mark_in(const fs::path& folder) { return folder / ".ardoise-made"; }

}  // namespace

fs::path status_file_in(const fs::path& folder) { return folder / ".analyzer-status"; }

OutputFolder::OutputFolder(const fs::path& wished) {
  auto base = fs::absolute(wished).lexically_normal();
  if (!base.has_filename()) base = base.parent_path();  // "reports/"
  std::error_code error;
  fs::create_directories(base.parent_path(), error);
  if (error) refuse(base, error.message());
  constexpr int kMostReports = 100000;
  for (int number = 1; number < kMostReports; ++number) {
    path_ = number == 1 ? base : fs::path(fmt::format("{}-{}", base.string(), number));
    made_ = ::mkdir(path_.c_str(), 0700) == 0;
    if (!made_ && errno != EEXIST) {
      const std::string reason = std::generic_category().message(errno);
      if (number == 1) refuse(path_, reason);
      throw UsageError(fmt::format("the folder '{}' {}, and '{}' cannot be made: {}; name another one.", base.string(),
                                   why_renamed_, path_.string(), reason));
    }
    std::string fault = fault_of(path_);
    if (fault.empty()) {
      const int claimed = make_file(status_file_in(path_));
      if (claimed == 0) return;
      fault = claimed == EEXIST ? "is taken" : "cannot be written: " + std::generic_category().message(claimed);
    }
    if (made_) {
      // A simultaneous launch claimed it, and cannot know who made the folder.
      if (fault == "is taken") {
        make_file(made_mark_in(path_));
      } else {
        fs::remove(path_, error);
        throw UsageError(fmt::format("the folder '{}', new as it is, {}; name another one.", path_.string(), fault));
      }
    }
    if (number == 1) why_renamed_ = fault;
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
  // Files of analyzers that were killed.
  for (const auto& entry : fs::directory_iterator(path_, ignored)) {
    if (reports::is_half_written(entry.path().filename().string())) fs::remove(entry.path(), ignored);
  }
  if (made_) fs::remove(path_, ignored);  // fails, as intended, if the folder is not empty
}

void make_writable_folder(const fs::path& folder) {
  if (const auto made = reports::make_own_folder(folder); !made) throw UsageError(made.error);
  const auto trial = folder / fmt::format(".ardoise-{}", ::getpid());
  if (const int failed = make_file(trial); failed != 0) refuse(folder, std::generic_category().message(failed));
  ::unlink(trial.c_str());
}

}  // namespace ardoise::launcher
