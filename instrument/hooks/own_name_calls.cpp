// This library's own calls of the functions in posix_name_hooks.cpp, also those of the C++ library inside: the linker
// sends them here (--wrap), past the hooks, which record what the program calls. They are system calls.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace {

int result_of(long result) { return static_cast<int>(result); }

}  // namespace

extern "C" {

int __wrap_fstatat(int folder, const char* path, struct stat* found, int flags) {
  return result_of(::syscall(SYS_newfstatat, folder, path, found, flags));
}
int __wrap_stat(const char* path, struct stat* found) { return __wrap_fstatat(AT_FDCWD, path, found, 0); }
int __wrap_lstat(const char* path, struct stat* found) {
  return __wrap_fstatat(AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW);
}
int __wrap_access(const char* path, int mode) { return result_of(::syscall(SYS_faccessat, AT_FDCWD, path, mode)); }
int __wrap_unlinkat(int folder, const char* path, int flags) {
  return result_of(::syscall(SYS_unlinkat, folder, path, flags));
}
int __wrap_unlink(const char* path) { return __wrap_unlinkat(AT_FDCWD, path, 0); }
int __wrap_rmdir(const char* path) { return __wrap_unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int __wrap_remove(const char* path) {
  if (__wrap_unlink(path) == 0) return 0;
  return errno == EISDIR || errno == EPERM ? __wrap_rmdir(path) : -1;
}
int __wrap_renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return result_of(::syscall(SYS_renameat2, from_folder, from, to_folder, to, 0));
}
int __wrap_rename(const char* from, const char* to) { return __wrap_renameat(AT_FDCWD, from, AT_FDCWD, to); }
int __wrap_mkdirat(int folder, const char* path, mode_t mode) {
  return result_of(::syscall(SYS_mkdirat, folder, path, mode));
}
int __wrap_mkdir(const char* path, mode_t mode) { return __wrap_mkdirat(AT_FDCWD, path, mode); }
DIR* __wrap_opendir(const char* path) {
  const long folder = ::syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
  if (folder < 0) return nullptr;
  DIR* const opened = ::fdopendir(result_of(folder));
  if (opened == nullptr) ::syscall(SYS_close, folder);
  return opened;
}

}  // extern "C"
