// Containers may share /dev/shm, and a process id is unique in its namespace only: hence the namespace in the name.
#include "vmpi/world/window_folders.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "vmpi/world/launch_secret.hpp"

namespace ardoise::vmpi {
namespace {

constexpr const char* kPrefix = "ardoise.";

unsigned long process_namespace() {
  struct stat found;
  return stat("/proc/thread-self/ns/pid", &found) == 0 ? static_cast<unsigned long>(found.st_ino) : 0;
}

bool is_stale(const char* name) {
  unsigned long name_space = 0;
  int launcher = 0;
  char after = '\0';
  if (std::sscanf(name, "ardoise.%lu.%d%c", &name_space, &launcher, &after) != 3 || after != '.') return false;
  return launcher > 0 && name_space != 0 && name_space == process_namespace() && kill(launcher, 0) != 0 &&
         errno == ESRCH;
}

void remove_folder(int root, const char* name) {
  const int folder = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  struct stat found;
  DIR* const list = fstat(folder, &found) == 0 && found.st_uid == geteuid() ? fdopendir(folder) : nullptr;
  if (list == nullptr) {
    close(folder);
    return;
  }
  while (const dirent* const entry = readdir(list)) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
      unlinkat(folder, entry->d_name, 0);
  }
  closedir(list);
  unlinkat(root, name, AT_REMOVEDIR);
}

}  // namespace

std::string window_folder_name(long launcher, std::string_view job, std::string_view program) {
  const auto secret = launch_secret("windows of " + std::string(program));
  return kPrefix + std::to_string(process_namespace()) + '.' + std::to_string(launcher) + '.' + std::string(job) + '.' +
         (secret != 0 ? std::to_string(secret) : std::string(program));
}

bool make_window_folder(const std::string& path, bool& is_new) noexcept {
  is_new = mkdir(path.c_str(), 0700) == 0;
  struct stat found;
  return is_new || (lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
                    (found.st_mode & 077) == 0);
}

void remove_stale_window_folders(const char* root) noexcept {
  const int errno_before = errno;
  if (DIR* const list = opendir(root)) {
    while (const dirent* const entry = readdir(list)) {
      if (std::strncmp(entry->d_name, kPrefix, std::strlen(kPrefix)) == 0 && is_stale(entry->d_name))
        remove_folder(dirfd(list), entry->d_name);
    }
    closedir(list);
  }
  errno = errno_before;
}

}  // namespace ardoise::vmpi
