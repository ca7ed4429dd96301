// See safe_keeper.hpp.
#include "analyzer/safe_keeper.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <utility>

namespace ardoise::analyzer {

bool SafeKeeper::keep(AnalyzerRun& run, const std::function<void()>& write) {
  wait();
  run.while_still([&] { child_ = ::fork(); });
  if (child_ != 0) return child_ > 0;
  ::setsid();
  ::signal(SIGTERM, SIG_IGN);
  try {
    run.lose_workers();
    run.drain();
    write();
  } catch (const std::exception&) {
    ::_exit(1);  // what it wrote was not renamed
  }
  ::_exit(0);
}

bool SafeKeeper::is_busy() {
  if (child_ > 0 && ::waitpid(child_, nullptr, WNOHANG) != 0) child_ = -1;
  return child_ > 0;
}

void SafeKeeper::wait() {
  const pid_t child = std::exchange(child_, -1);
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
}

}  // namespace ardoise::analyzer
