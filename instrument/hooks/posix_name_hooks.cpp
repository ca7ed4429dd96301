// Hooks of calls that name a file and move no data: they ask the server of a file system, as open() does. Their 64-bit
// and relative spellings are recorded under the plain name. Libraries use such names for functions of their own, too.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "instrument/hooks/posix_monitor.hpp"
#include "instrument/hooks/real_function.hpp"

namespace ardoise::instrument {
namespace {

template <class Ask>
[[gnu::always_inline]] inline int record_name(PosixFunction function, const void* caller, Ask&& ask) {
  PosixCall call(function, caller);
  return call.end(ask());
}

}  // namespace

// arguments: of the call to the real function, in parentheses.
#define ARDOISE_NAME_HOOK(function, name, arguments, ...)                    \
  ARDOISE_HOOK_UNLESS_OWN(int, name, __VA_ARGS__) {                          \
    return record_name(PosixFunction::function, __builtin_return_address(0), \
                       [=] { return real_##name.get() arguments; });         \
  }

ARDOISE_NAME_HOOK(kStat, stat, (path, found), const char* path, struct stat* found)
ARDOISE_NAME_HOOK(kStat, stat64, (path, found), const char* path, struct stat64* found)
ARDOISE_NAME_HOOK(kStat, lstat, (path, found), const char* path, struct stat* found)
ARDOISE_NAME_HOOK(kStat, lstat64, (path, found), const char* path, struct stat64* found)
ARDOISE_NAME_HOOK(kStat, fstatat, (folder, path, found, flags), int folder, const char* path, struct stat* found,
                  int flags)
ARDOISE_NAME_HOOK(kStat, fstatat64, (folder, path, found, flags), int folder, const char* path, struct stat64* found,
                  int flags)
ARDOISE_NAME_HOOK(kStat, statx, (folder, path, flags, mask, found), int folder, const char* path, int flags,
                  unsigned mask, struct statx* found)
ARDOISE_NAME_HOOK(kAccess, access, (path, mode), const char* path, int mode)
ARDOISE_NAME_HOOK(kAccess, faccessat, (folder, path, mode, flags), int folder, const char* path, int mode, int flags)
ARDOISE_NAME_HOOK(kUnlink, unlink, (path), const char* path)
ARDOISE_NAME_HOOK(kUnlink, unlinkat, (folder, path, flags), int folder, const char* path, int flags)
ARDOISE_NAME_HOOK(kUnlink, remove, (path), const char* path)
ARDOISE_NAME_HOOK(kUnlink, rmdir, (path), const char* path)
ARDOISE_NAME_HOOK(kRename, rename, (from, to), const char* from, const char* to)
ARDOISE_NAME_HOOK(kRename, renameat, (from_folder, from, to_folder, to), int from_folder, const char* from,
                  int to_folder, const char* to)
ARDOISE_NAME_HOOK(kMkdir, mkdir, (path, mode), const char* path, mode_t mode)
ARDOISE_NAME_HOOK(kMkdir, mkdirat, (folder, path, mode), int folder, const char* path, mode_t mode)

ARDOISE_HOOK_UNLESS_OWN(DIR*, opendir, const char* path) {
  PosixCall call(PosixFunction::kOpendir, __builtin_return_address(0));
  DIR* const folder = real_opendir(path);
  call.record(0, folder == nullptr);
  return folder;
}

}  // namespace ardoise::instrument
