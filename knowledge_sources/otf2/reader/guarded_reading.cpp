#include "knowledge_sources/otf2/reader/guarded_reading.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>

namespace ardoise::knowledge_sources {
namespace {

// In memory shared with the parent. The last note of several threads is usually right, which is enough for a message.
struct Noted {
  std::atomic<const char*> what{nullptr};
  std::atomic<std::uint64_t> location{UINT64_MAX};
};
Noted* shared_note = nullptr;  // set before there are threads

// Other signals come from users, or from a closed pipe: this process ends by them, too.
bool is_crash(int signal) { return signal != SIGPIPE && signal != SIGINT && signal != SIGTERM && signal != SIGHUP; }

}  // namespace

void note_reading(const char* what, std::uint64_t location) {
  if (shared_note == nullptr) return;
  shared_note->location.store(location, std::memory_order_relaxed);
  shared_note->what.store(what, std::memory_order_relaxed);
}

GuardedEnd read_guarded(const std::function<int()>& work) {
  void* const memory = ::mmap(nullptr, sizeof(Noted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {work(), ""};
  shared_note = new (memory) Noted;
  std::cout.flush();
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // useless without its parent
    if (::getppid() != parent) ::_exit(1);
    const int status = work();
    std::cout.flush();
    std::fflush(nullptr);
    ::_exit(status);
  }
  GuardedEnd end;
  if (child < 0) {
    end.status = work();
  } else {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
    if (WIFSIGNALED(status) && !is_crash(WTERMSIG(status))) {
      ::signal(WTERMSIG(status), SIG_DFL);
      ::raise(WTERMSIG(status));
    }
    if (WIFSIGNALED(status)) {
      const char* const what = shared_note->what.load(std::memory_order_relaxed);
      const std::uint64_t location = shared_note->location.load(std::memory_order_relaxed);
      end.status = 128 + WTERMSIG(status);
      end.crash = fmt::format("crashed with signal {} ({}) while it read {}{}", WTERMSIG(status),
                              ::strsignal(WTERMSIG(status)), what == nullptr ? "its first file" : what,
                              location == UINT64_MAX ? "" : fmt::format(" location {}", location));
    }
  }
  shared_note = nullptr;
  ::munmap(memory, sizeof(Noted));
  return end;
}

}  // namespace ardoise::knowledge_sources
