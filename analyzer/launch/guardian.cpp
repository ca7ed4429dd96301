#include "analyzer/launch/guardian.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "analyzer/launch/job_watch.hpp"

namespace ardoise::analyzer {
namespace {

volatile std::sig_atomic_t analyzer_process = 0, status_of_end = 0;
pid_t guardian_process = 0;  // 0: none

extern "C" void end_at_once(int) { ::syscall(SYS_exit_group, static_cast<int>(status_of_end)); }

extern "C" void pass_on(int signal) {
  const int error = errno;
  ::kill(static_cast<pid_t>(analyzer_process), signal);
  errno = error;
}

constexpr std::array kPassedOn{SIGTERM, SIGINT, SIGHUP, SIGCONT, SIGQUIT};

[[noreturn]] void wait_for(pid_t child, const sigset_t& before) {
  analyzer_process = child;
  struct sigaction action {};
  action.sa_handler = pass_on;
  action.sa_flags = SA_RESTART;
  for (const int signal : kPassedOn) ::sigaction(signal, &action, nullptr);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) {
    // Hydra ors the statuses of all processes, and UCX aborts when the process whose memory it reads has died. SIGKILL
    // tells the launcher that no program caused the status (tools/ardoise/launch/hydra_status.hpp).
    const int signal = is_mpich_launch() ? SIGKILL : WTERMSIG(status);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  ::_exit(WEXITSTATUS(status));
}

}  // namespace

void fork_guardian() {
  // mpirun forwards these to all processes of the launch; they are meant for the programs.
  for (const int signal : {SIGUSR1, SIGUSR2}) std::signal(signal, SIG_IGN);
  // Blocks signals until their handlers are installed.
  sigset_t passed_on, before;
  sigemptyset(&passed_on);
  for (const int signal : kPassedOn) sigaddset(&passed_on, signal);
  ::sigprocmask(SIG_BLOCK, &passed_on, &before);
  const pid_t guardian = ::getpid();
  const pid_t child = ::fork();
  if (child > 0) wait_for(child, before);
  if (child == 0) {
    guardian_process = guardian;
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != guardian) std::raise(SIGTERM);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  analyzer_process = ::getpid();
}

void end_with_guardian(int status) {
  status_of_end = status;
  std::signal(SIGTERM, end_at_once);
  if (guardian_process != 0 && ::getppid() != guardian_process) end_at_once(SIGTERM);  // its SIGTERM came before
}

}  // namespace ardoise::analyzer

// Replaces the C library's _exit in libraries. Called from a thread other than the main one, it makes the main thread
// end the process first.
extern "C" [[gnu::visibility("default")]] void _exit(int status) {
  constexpr int kPatienceSeconds = 5;
  const auto self = static_cast<pid_t>(ardoise::analyzer::analyzer_process);
  if (self == ::getpid() && self != ::gettid()) {
    ::kill(self, SIGTERM);
    ::sleep(kPatienceSeconds);
  }
  ::syscall(SYS_exit_group, status);
  __builtin_unreachable();
}
