#include "reports/folder_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "reports/atomic_file.hpp"
#include "reports/write_all.hpp"

namespace ardoise::reports {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  // Some file systems report a full disk only here.
  [[nodiscard]] bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

bool copy_bytes(int from, int to) {
  std::array<char, std::size_t{1} << 16> block;
  for (;;) {
    const ssize_t got = ::read(from, block.data(), block.size());
    if (got == 0) return true;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || !write_all(to, {block.data(), static_cast<std::size_t>(got)})) return false;
  }
}

int open_folder_at(int folder, const std::string& name) {
  return ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

}  // namespace

FolderWriter::FolderWriter(const std::string& path)
    : path_(path), folder_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (folder_ < 0) (void)fail("", errno);
}

FolderWriter::FolderWriter(std::string path, int folder, std::string error)
    : path_(std::move(path)), error_(std::move(error)), folder_(folder) {}

FolderWriter::~FolderWriter() {
  if (folder_ >= 0) ::close(folder_);
}

FolderWriter FolderWriter::folder(const std::string& name) {
  const std::string path = path_ + "/" + name;
  if (!error_.empty()) return {path, -1, error_};
  int folder = open_folder_at(folder_, name);
  if (folder < 0) {
    // A link or a file in place of the folder: replace it.
    if (errno == ELOOP || errno == ENOTDIR) ::unlinkat(folder_, name.c_str(), 0);
    if (::mkdirat(folder_, name.c_str(), 0777) == 0) folder = open_folder_at(folder_, name);
  }
  if (folder < 0) (void)fail(name, errno);
  return {path, folder, error_};
}

Outcome FolderWriter::copy(const std::string& from, const std::string& name) {
  if (!error_.empty()) return {error_};
  const std::string beside = half_written(name);
  ::unlinkat(folder_, beside.c_str(), 0);  // left by a killed process with our process id
  const Descriptor source(::open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  Descriptor target(::openat(folder_, beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (source.get() >= 0 && target.get() >= 0 && copy_bytes(source.get(), target.get()) && target.close() &&
      ::renameat(folder_, beside.c_str(), folder_, name.c_str()) == 0) {
    return {};
  }
  const int why = errno;
  ::unlinkat(folder_, beside.c_str(), 0);
  return fail(name, why);
}

Outcome FolderWriter::copy_all(const std::string& from) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(from, error)) {
    if (Outcome copied = copy(entry.path().string(), entry.path().filename().string()); !copied) return copied;
  }
  return {error_};
}

Outcome FolderWriter::fail(const std::string& name, int error_number) {
  if (error_.empty()) {
    error_ = fmt::format("Cannot write {}{}{}: {}; free some space there or choose another folder with --output.",
                         path_, name.empty() ? "" : "/", name, std::strerror(error_number));
  }
  return {error_};
}

}  // namespace ardoise::reports
