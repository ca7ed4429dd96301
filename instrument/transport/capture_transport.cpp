#include "instrument/transport/capture_transport.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace ardoise::instrument {

long CaptureTransport::make_file(const std::string& path) {
  struct stat found {};
  const bool is_own_link =
      ::syscall(SYS_newfstatat, AT_FDCWD, path.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(found.st_mode) &&
      found.st_uid == ::geteuid();
  if (!is_own_link) ::syscall(SYS_unlinkat, AT_FDCWD, path.c_str(), 0);
  const long how = is_own_link ? O_TRUNC | O_NONBLOCK : O_CREAT | O_EXCL;
  const long made = ::syscall(SYS_openat, AT_FDCWD, path.c_str(), O_WRONLY | O_CLOEXEC | how, 0666);
  return made < 0 ? -errno : made;
}

bool CaptureTransport::write(const std::byte* data, std::size_t bytes) {
  while (bytes != 0) {
    const long written = ::syscall(SYS_write, descriptor_, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

bool CaptureTransport::send(Bin* bin, std::size_t bytes) {
  if (ready() && !write(reinterpret_cast<const std::byte*>(bin), bytes)) close_file();
  if (next_ != nullptr) return next_->send(bin, bytes);
  if (!ready()) return false;
  written_.push_back(bin);
  return true;
}

Bin* CaptureTransport::reclaim(bool wait) {
  if (next_ != nullptr) return next_->reclaim(wait);
  if (written_.empty()) return nullptr;
  Bin* const bin = written_.back();
  written_.pop_back();
  return bin;
}

bool CaptureTransport::close() {
  close_file();
  return next_ == nullptr || next_->close();
}

void CaptureTransport::close_file() {
  if (ready()) ::syscall(SYS_close, descriptor_);
  descriptor_ = -1;
}

}  // namespace ardoise::instrument
