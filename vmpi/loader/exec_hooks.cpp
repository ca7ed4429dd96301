// Runs in shells, also between vfork and exec: no allocation and no lock, only the stack. Functions are looked up only
// before our constructor, when the process has one thread.
#include "vmpi/loader/exec_hooks.hpp"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "vmpi/export.hpp"
#include "vmpi/loader/exec_observer.hpp"
#include "vmpi/loader/preload_environment.hpp"

namespace ardoise::vmpi {
namespace {

constexpr std::string_view kVariable = "LD_PRELOAD=";
constexpr std::size_t kMostVariables = 4096;
constexpr std::size_t kLongestList = 8192;

char own_entry[4096];  // our entry of LD_PRELOAD at process start; "": none, or MPI has started

// The next function behind ours. Relaxed: all threads find the same address.
template <class Function>
struct Next {
  const char* name;
  std::atomic<Function> known{nullptr};

  Function operator()() {
    Function function = known.load(std::memory_order_relaxed);
    if (function == nullptr) {
      function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
      known.store(function, std::memory_order_relaxed);
    }
    return function;
  }
};

using Exec = int (*)(const char*, char* const*, char* const*);
using ExecOpen = int (*)(int, char* const*, char* const*);
using Spawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                      char* const*);

// Constant-initialised: constructors of other libraries may start programs before ours has run.
constinit Next<Exec> next_execve{"execve"};
constinit Next<Exec> next_execvpe{"execvpe"};
constinit Next<ExecOpen> next_fexecve{"fexecve"};
constinit Next<Spawn> next_posix_spawn{"posix_spawn"};
constinit Next<Spawn> next_posix_spawnp{"posix_spawnp"};

// Not looked up after our constructor: dlsym takes a lock, and the caller may be between vfork and exec.
int execve_behind_us(const char* path, char* const argv[], char* const environment[]) {
  if (const auto next = next_execve.known.load(std::memory_order_relaxed)) return next(path, argv, environment);
  return static_cast<int>(::syscall(SYS_execve, path, argv, environment));
}

[[gnu::constructor]] void prepare() {
  next_execve();
  next_execvpe();
  next_fexecve();
  next_posix_spawn();
  next_posix_spawnp();
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

// The position of an LD_PRELOAD that lacks our entry; -1: there is none, or nothing to add.
int position_of_lacking_list(char* const* environment) {
  if (environment == nullptr || own_entry[0] == '\0') return -1;
  for (int i = 0; environment[i] != nullptr; ++i) {
    if (std::strncmp(environment[i], kVariable.data(), kVariable.size()) == 0)
      return std::strstr(environment[i], own_entry) != nullptr ? -1 : i;
  }
  return -1;
}

// A separate function because of its large frame: few calls need it, and stacks of threads can be small.
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

// Relaxed: there is one observer, set once.
constinit std::atomic<void (*)(const char*) noexcept> exec_begins = nullptr;
constinit std::atomic<void (*)() noexcept> exec_failed = nullptr;

template <class Execute>
int executed(const char* program, char* const* environment, const Execute& execute) {
  if (const auto begins = exec_begins.load(std::memory_order_relaxed)) begins(program);
  const int result = started(environment, execute);  // exec failed: the process is unchanged
  if (const auto failed = exec_failed.load(std::memory_order_relaxed)) failed();
  return result;
}

// Builds, on the caller's stack, the arguments of execl() and its relatives from `first` on, with the terminating null
// pointer; `rest` is positioned behind it. volatile: the declaration promises a non-null `first`, and callers may break
// that.
#define ARDOISE_LIST_ARGUMENTS(listed, rest, first)                                         \
  const char* const volatile own_##first = first;                                           \
  std::size_t count = own_##first == nullptr ? 0 : 1;                                       \
  va_list rest;                                                                             \
  va_start(rest, first);                                                                    \
  while (count != 0 && va_arg(rest, char*) != nullptr) ++count;                             \
  va_end(rest);                                                                             \
  auto** const listed = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
  va_start(rest, first);                                                                    \
  listed[0] = const_cast<char*>(own_##first);                                               \
  for (std::size_t i = 1; i <= count; ++i) listed[i] = va_arg(rest, char*)

}  // namespace

void stop_passing_preload_on() noexcept { own_entry[0] = '\0'; }

void observe_exec(const ExecObserver& observer) noexcept {
  exec_begins.store(observer.begin, std::memory_order_relaxed);
  exec_failed.store(observer.failed, std::memory_order_relaxed);
}

}  // namespace ardoise::vmpi

using namespace ardoise::vmpi;

VMPI_EXPORT int execve(const char* path, char* const argv[], char* const envp[]) noexcept {
  return executed(path, envp, [&](char* const* environment) { return execve_behind_us(path, argv, environment); });
}
VMPI_EXPORT int execv(const char* path, char* const argv[]) noexcept { return execve(path, argv, environ); }
VMPI_EXPORT int execvpe(const char* file, char* const argv[], char* const envp[]) noexcept {
  return executed(file, envp, [&](char* const* environment) { return next_execvpe()(file, argv, environment); });
}
VMPI_EXPORT int execvp(const char* file, char* const argv[]) noexcept { return execvpe(file, argv, environ); }
VMPI_EXPORT int fexecve(int descriptor, char* const argv[], char* const envp[]) noexcept {
  return executed(nullptr, envp,
                  [&](char* const* environment) { return next_fexecve()(descriptor, argv, environment); });
}
// The C library's own execl would not call our execve.
VMPI_EXPORT int execl(const char* path, const char* first, ...) noexcept {
  ARDOISE_LIST_ARGUMENTS(arguments, rest, first);
  va_end(rest);
  return execve(path, arguments, environ);
}
VMPI_EXPORT int execlp(const char* file, const char* first, ...) noexcept {
  ARDOISE_LIST_ARGUMENTS(arguments, rest, first);
  va_end(rest);
  return execvpe(file, arguments, environ);
}
VMPI_EXPORT int execle(const char* path, const char* first, ...) noexcept {
  ARDOISE_LIST_ARGUMENTS(arguments, rest, first);
  char* const* const environment = va_arg(rest, char* const*);
  va_end(rest);
  return execve(path, arguments, environment);
}
VMPI_EXPORT int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                            const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  return started(envp, [&](char* const* environment) {
    return next_posix_spawn()(pid, path, actions, attributes, argv, environment);
  });
}
VMPI_EXPORT int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  return started(envp, [&](char* const* environment) {
    return next_posix_spawnp()(pid, file, actions, attributes, argv, environment);
  });
}
