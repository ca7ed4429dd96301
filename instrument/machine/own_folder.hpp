// The folder that a launch reports to. Its processes, analyzers and commands exchange files in it. Each use opens the
// folder and checks its owner, so that even if the name was taken over meanwhile, every file read was written by this
// user, and every file written lands in this user's folder:
//
//   folder   a directory of this user that group and others cannot write to
//   read     a regular file of this user: no link is followed, nothing blocks
//   made     a file that was not there before
//
// Uses direct system calls: the survivor shares errno and memory with a thread of the program (kernel_call.hpp), and
// the functions of the C library are hooked.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "instrument/machine/kernel_call.hpp"

namespace ardoise::instrument {

// One use by one thread. Names are those of files in the folder. All functions return the kernel's value: a descriptor
// or 0, or -errno; also -EPERM for a file of another user or a file that is not regular.
class OwnFolder {
 public:
  explicit OwnFolder(const char* path) noexcept
      : folder_(call_kernel(SYS_openat, AT_FDCWD, argument(path), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    if (folder_ < 0) return;
    struct stat found {};
    long error = call_kernel(SYS_fstat, folder_, argument(&found));
    if (error == 0 && !is_own(found)) error = -EPERM;
    if (error == 0) {
      owner_ = found.st_uid;
      return;
    }
    call_kernel(SYS_close, folder_);
    folder_ = error;
  }
  ~OwnFolder() {
    if (folder_ >= 0) call_kernel(SYS_close, folder_);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  // 0, or the reason why nothing in the folder can be used.
  [[nodiscard]] long error() const noexcept { return folder_ < 0 ? folder_ : 0; }

  [[nodiscard]] long stat(const char* name, struct stat& found) const noexcept {
    if (folder_ < 0) return folder_;
    const long error = call_kernel(SYS_newfstatat, folder_, argument(name), argument(&found), AT_SYMLINK_NOFOLLOW);
    return error != 0 ? error : is_own_file(found) ? 0 : -EPERM;
  }
  [[nodiscard]] long read(const char* name) const noexcept { return open(name, O_RDONLY, 0); }
  // Creates the file if it does not exist.
  [[nodiscard]] long append(const char* name, long mode) const noexcept {
    return open(name, O_RDWR | O_CREAT | O_APPEND, mode);
  }
  [[nodiscard]] long make(const char* name, long mode) const noexcept {
    if (folder_ < 0) return folder_;
    return call_kernel(SYS_openat, folder_, argument(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  }
  // The same; removes an existing file or link of that name first.
  [[nodiscard]] long replace(const char* name, long mode) const noexcept {
    (void)remove(name);
    return make(name, mode);
  }
  long rename(const char* from, const char* to) const noexcept {
    if (folder_ < 0) return folder_;
    return call_kernel(SYS_renameat2, folder_, argument(from), folder_, argument(to), 0);
  }
  long link(const char* from, const char* to) const noexcept {
    if (folder_ < 0) return folder_;
    return call_kernel(SYS_linkat, folder_, argument(from), folder_, argument(to), 0);
  }
  long remove(const char* name) const noexcept {
    if (folder_ < 0) return folder_;
    return call_kernel(SYS_unlinkat, folder_, argument(name), 0);
  }

 private:
  // A file server may not know this user, or may treat root as an ordinary user. It then reports user id 65534 or -2 as
  // the owner of this user's files.
  [[nodiscard]] bool is_own(const struct stat& folder) const noexcept {
    if ((folder.st_mode & (S_IWGRP | S_IWOTH)) != 0) return false;
    if (folder.st_uid == static_cast<uid_t>(call_kernel(SYS_geteuid))) return true;
    constexpr uid_t kNobody = 65534, kNobodyOfNfs = static_cast<uid_t>(-2);
    if (folder.st_uid != kNobody && folder.st_uid != kNobodyOfNfs) return false;
    return call_kernel(SYS_faccessat, folder_, argument("."), W_OK) == 0;
  }
  [[nodiscard]] bool is_own_file(const struct stat& file) const noexcept {
    return S_ISREG(file.st_mode) && file.st_uid == owner_;
  }
  [[nodiscard]] long open(const char* name, long how, long mode) const noexcept {
    if (folder_ < 0) return folder_;
    const long file = call_kernel(SYS_openat, folder_, argument(name), how | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode);
    if (file < 0) return file;
    struct stat found {};
    long error = call_kernel(SYS_fstat, file, argument(&found));
    if (error == 0 && !is_own_file(found)) error = -EPERM;
    if (error == 0) return file;
    call_kernel(SYS_close, file);
    return error;
  }

  long folder_;      // its descriptor, or an error
  uid_t owner_ = 0;  // of the folder and its files
};

}  // namespace ardoise::instrument
