#include "analyzer/states/safe_keeper.hpp"

#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>

#include "analyzer/states/registered_memory.hpp"

namespace ardoise::analyzer {
namespace {

std::chrono::nanoseconds in_time(const ::timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

}  // namespace

bool SafeKeeper::keep(AnalyzerRun& run, const std::function<void()>& write) {
  wait();
  if (!is_fork_safe()) return false;
  const auto begin = std::chrono::steady_clock::now();
  run.while_paused([&] { child_ = ::fork(); });
  if (child_ != 0) {
    stopped_ = std::chrono::steady_clock::now() - begin;
    return child_ > 0;
  }
  ::setsid();
  ::signal(SIGTERM, SIG_IGN);
  try {
    run.continue_without_workers();
    run.drain();
    write();
  } catch (const std::exception&) {
    ::_exit(1);  // its file was not renamed
  }
  ::_exit(0);
}

bool SafeKeeper::is_busy() {
  end(WNOHANG);
  return child_ > 0;
}

void SafeKeeper::wait() {
  while (child_ > 0) end(0);
}

void SafeKeeper::end(int options) {
  if (child_ <= 0) return;
  ::rusage used{};
  const pid_t ended = ::wait4(child_, nullptr, options, &used);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return;
  child_ = -1;
  worked_ = in_time(used.ru_utime) + in_time(used.ru_stime);
}

}  // namespace ardoise::analyzer
