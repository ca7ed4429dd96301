// See exec_hooks.hpp. Runs in shells, also between vfork and exec: no allocation, no lock, nothing but the stack.
#include "vmpi/loader/exec_hooks.hpp"

#include <dlfcn.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "vmpi/export.hpp"
#include "vmpi/loader/preload_environment.hpp"

namespace ardoise::vmpi {
namespace {

constexpr std::string_view kVariable = "LD_PRELOAD=";
constexpr std::size_t kMostVariables = 4096;
constexpr std::size_t kLongestList = 8192;

char own_entry[4096];  // ours of LD_PRELOAD at the start of this process; "": none, or MPI has started

struct Real {
  decltype(&::execve) execve;
  decltype(&::execvpe) execvpe;
  decltype(&::posix_spawn) posix_spawn;
  decltype(&::posix_spawnp) posix_spawnp;
} real;

template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

[[gnu::constructor]] void prepare() {
  find(real.execve, "execve");
  find(real.execvpe, "execvpe");
  find(real.posix_spawn, "posix_spawn");
  find(real.posix_spawnp, "posix_spawnp");
  const char* const list = std::getenv("LD_PRELOAD");
  if (list == nullptr) return;
  const std::string_view all = list;
  for (std::size_t begin = 0; begin < all.size();) {
    const auto end = std::min(all.find_first_of(": ", begin), all.size());
    const auto entry = all.substr(begin, end - begin);
    if (!entry.empty() && entry.size() < sizeof own_entry && without_own_entries(entry, own_library()).empty()) {
      entry.copy(own_entry, entry.size());
      return;
    }
    begin = end + 1;
  }
}

// The position of an LD_PRELOAD that lacks us; -1: none, or we have no business there.
int position_of_lacking_list(char* const* environment) {
  if (environment == nullptr || own_entry[0] == '\0') return -1;
  for (int i = 0; environment[i] != nullptr; ++i) {
    if (std::strncmp(environment[i], kVariable.data(), kVariable.size()) == 0)
      return std::strstr(environment[i], own_entry) != nullptr ? -1 : i;
  }
  return -1;
}

// Apart, because of its large frame: few calls need it, and threads can have small stacks.
template <class Start>
[[gnu::noinline]] int start_with_us(char* const* environment, int position, const Start& start) {
  char* variables[kMostVariables];
  char list[kLongestList];
  std::size_t count = 0;
  while (environment[count] != nullptr) ++count;
  const char* const theirs = environment[position] + kVariable.size();
  const int length =
      std::snprintf(list, sizeof list, "%s%s%s%s", kVariable.data(), own_entry, theirs[0] != '\0' ? ":" : "", theirs);
  if (count >= kMostVariables || length < 0 || static_cast<std::size_t>(length) >= sizeof list)
    return start(environment);
  std::memcpy(variables, environment, (count + 1) * sizeof environment[0]);
  variables[position] = list;
  return start(static_cast<char* const*>(variables));
}

template <class Start>
int started(char* const* environment, const Start& start) {
  const int position = position_of_lacking_list(environment);
  return position < 0 ? start(environment) : start_with_us(environment, position, start);
}

}  // namespace

void stop_passing_preload_on() noexcept { own_entry[0] = '\0'; }

}  // namespace ardoise::vmpi

using ardoise::vmpi::real;
using ardoise::vmpi::started;

VMPI_EXPORT int execve(const char* path, char* const argv[], char* const envp[]) noexcept {
  return started(envp, [&](char* const* environment) { return real.execve(path, argv, environment); });
}
VMPI_EXPORT int execv(const char* path, char* const argv[]) noexcept { return execve(path, argv, environ); }
VMPI_EXPORT int execvpe(const char* file, char* const argv[], char* const envp[]) noexcept {
  return started(envp, [&](char* const* environment) { return real.execvpe(file, argv, environment); });
}
VMPI_EXPORT int execvp(const char* file, char* const argv[]) noexcept { return execvpe(file, argv, environ); }
VMPI_EXPORT int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                            const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  return started(envp, [&](char* const* environment) {
    return real.posix_spawn(pid, path, actions, attributes, argv, environment);
  });
}
VMPI_EXPORT int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  return started(envp, [&](char* const* environment) {
    return real.posix_spawnp(pid, file, actions, attributes, argv, environment);
  });
}
