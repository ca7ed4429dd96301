#include "reports/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "reports/write_all.hpp"

namespace ardoise::reports {

namespace {

std::string what_to_do(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "free some space there or choose another folder with --output";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that you may write to with --output";
    default:
      return "choose another folder with --output";
  }
}

// It belongs to this user, or only its folder's owner can write there, as in /dev.
bool is_trusted(const std::string& path, const struct stat& named) {
  if (named.st_uid == ::geteuid()) return true;
  const std::string folder = std::filesystem::path(path).parent_path();
  struct stat around {};
  return ::stat(folder.empty() ? "." : folder.c_str(), &around) == 0 && (around.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

constexpr std::string_view kBeside = ".part";  // followed by the process id

}  // namespace

std::string half_written(const std::string& path) { return fmt::format("{}{}{}", path, kBeside, ::getpid()); }

bool is_half_written(std::string_view name) {
  const auto at = name.rfind(kBeside);
  if (at == 0 || at == name.npos) return false;
  const auto number = name.substr(at + kBeside.size());
  return !number.empty() && number.find_first_not_of("0123456789") == number.npos;
}

AtomicFile::AtomicFile(std::string path, Special special) : path_(std::move(path)) {
  if (special == Special::kUsed && open_special()) return;
  struct stat old {};
  const bool exists = ::lstat(path_.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) {
    fail(EISDIR);
    return;
  }
  beside_ = half_written(path_);
  ::unlink(beside_.c_str());  // left by a killed process with our process id
  fd_ = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0 || (exists && S_ISREG(old.st_mode) && ::fchmod(fd_, old.st_mode & 0777) != 0)) fail(errno);
}

// True: opened for direct writing, or failed. False: an ordinary file; path_ is the target of a link.
bool AtomicFile::open_special() {
  struct stat named {
  }, meant{};
  if (::lstat(path_.c_str(), &named) != 0 || !is_trusted(path_, named) || ::stat(path_.c_str(), &meant) != 0)
    return false;
  if (S_ISREG(meant.st_mode) || S_ISDIR(meant.st_mode)) {
    std::error_code error;
    if (const auto target = std::filesystem::canonical(path_, error); !error) path_ = target;
    return false;
  }
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd_ < 0) fail(errno);
  return true;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::append(std::string_view bytes) {
  if (fd_ >= 0 && !write_all(fd_, bytes)) fail(errno);
}

Outcome AtomicFile::commit() {
  if (fd_ >= 0) {
    // Some file systems report a full disk only here.
    if (::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) fail(errno);  // EINVAL: a terminal, a FIFO
  }
  if (fd_ >= 0) {
    const int fd = fd_;
    fd_ = -1;
    if (::close(fd) != 0 || (!beside_.empty() && ::rename(beside_.c_str(), path_.c_str()) != 0)) fail(errno);
  }
  return {error_};
}

void AtomicFile::fail(int error_number) {
  if (error_.empty()) {
    error_ = fmt::format("Cannot write {}: {}; {}.", path_, std::strerror(error_number), what_to_do(error_number));
  }
  discard();
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

void AtomicFile::discard() {
  if (fd_ < 0) return;
  ::close(fd_);
  fd_ = -1;
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

Outcome write_file(const std::string& path, std::string_view content, Special special) {
  AtomicFile file(path, special);
  file.append(content);
  return file.commit();
}

Outcome make_own_folder(const std::string& path) {
  std::error_code error, none;
  auto folder = std::filesystem::path(path).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  if (folder.has_parent_path()) std::filesystem::create_directories(folder.parent_path(), error);
  if (!error && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) error = {errno, std::generic_category()};
  if (!error && !std::filesystem::is_directory(path, none)) error = std::make_error_code(std::errc::not_a_directory);
  if (!error) return {};
  return {fmt::format("Cannot make the folder {}: {}; {}.", path, error.message(), what_to_do(error.value()))};
}

}  // namespace ardoise::reports
