#include "tools/ardoise/common/launch_signals.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <system_error>

namespace ardoise::launcher {
namespace {

using namespace std::chrono_literals;

// Time for the witness to run on a busy machine. Copies of a signal in this time count as one, as in the kernel.
constexpr auto kPatience = 200ms;

// Read in a signal handler, so a lock-free atomic. Relaxed: it orders no other data.
std::atomic<int> mail_input{-1};

void post(int input, int signal) {
  const auto number = static_cast<unsigned char>(signal);
  while (::write(input, &number, 1) < 0 && errno == EINTR) continue;
}

void note(int signal) {
  const int saved = errno;
  post(mail_input.load(std::memory_order_relaxed), signal);
  errno = saved;
}

sigset_t handed_over() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kHandedOver) sigaddset(&set, signal);
  return set;
}

// Tests have threads, so the child of fork calls only functions that are safe in a signal handler.
constexpr int kLauncherDied = SIGALRM;  // signal to the witness

[[noreturn]] void be_witness(pid_t launcher, int input, sigset_t signals, const std::atomic<pid_t>& mpirun) {
  sigaddset(&signals, kLauncherDied);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  ::prctl(PR_SET_PDEATHSIG, kLauncherDied);
  ::prctl(PR_SET_NAME, "witness");  // `pkill ardoise` must not signal the group through it
  if (::getppid() != launcher) ::_exit(0);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(stream);
  for (;;) {
    const int signal = ::sigwaitinfo(&signals, nullptr);
    if (signal == kLauncherDied) {
      if (const pid_t child = mpirun.load(std::memory_order_relaxed); child > 0) ::kill(child, SIGTERM);
      ::_exit(0);
    }
    if (signal > 0) post(input, signal);
  }
}

}  // namespace

SignalPipe::SignalPipe() {
  if (::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
}

SignalPipe::~SignalPipe() {
  for (const int end : ends_) ::close(end);
}

std::vector<int> SignalPipe::take() {
  std::vector<int> signals;
  std::array<unsigned char, 64> numbers{};
  for (;;) {
    const auto got = ::read(ends_[0], numbers.data(), numbers.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return signals;
    signals.insert(signals.end(), numbers.begin(), numbers.begin() + got);
  }
}

LaunchSignals::LaunchSignals() {
  const sigset_t set = handed_over();
  sigprocmask(SIG_BLOCK, &set, &before_);
  mail_input.store(mail_.input(), std::memory_order_relaxed);
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
  sigaction(SIGCHLD, &action, &old_child_);
  void* const shared = ::mmap(nullptr, sizeof *mpirun_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  mpirun_ = new (shared) std::atomic<pid_t>(0);
  const pid_t launcher = ::getpid();
  witness_ = ::fork();
  if (witness_ == 0) be_witness(launcher, witnessed_.input(), set, *mpirun_);
}

LaunchSignals::~LaunchSignals() {
  if (has_taken_over_) {
    for (std::size_t i = 0; i < kHandedOver.size(); ++i) sigaction(kHandedOver[i], &old_[i], nullptr);
  }
  sigaction(SIGCHLD, &old_child_, nullptr);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
  mail_input.store(-1, std::memory_order_relaxed);
  if (witness_ > 0) ::kill(witness_, SIGKILL);
  while (witness_ > 0 && ::waitpid(witness_, nullptr, 0) < 0 && errno == EINTR) continue;
  ::munmap(mpirun_, sizeof *mpirun_);
}

void LaunchSignals::take_over(pid_t mpirun) {
  mpirun_->store(mpirun, std::memory_order_relaxed);
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kHandedOver.size(); ++i) sigaction(kHandedOver[i], &action, &old_[i]);
  has_taken_over_ = true;
  sigset_t mask = before_;
  sigdelset(&mask, SIGCHLD);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
}

std::vector<int> LaunchSignals::take(Clock::time_point now) {
  auto signals = mail_.take();
  std::erase(signals, SIGCHLD);
  for (const int signal : signals) {
    const auto covered = covered_until_.find(signal);
    if (covered == covered_until_.end() || now >= covered->second) due_.try_emplace(signal, now + kPatience);
  }
  for (const int signal : witnessed_.take()) {
    covered_until_[signal] = now + kPatience;
    due_.erase(signal);
  }
  return signals;
}

void LaunchSignals::hand_over(pid_t child, Clock::time_point now) {
  for (auto due = due_.begin(); due != due_.end();) {
    if (due->second > now) {
      ++due;
      continue;
    }
    ::kill(child, due->first);
    due = due_.erase(due);
  }
}

LaunchSignals::Clock::time_point LaunchSignals::next() const {
  auto next = Clock::time_point::max();
  for (const auto& [signal, when] : due_) next = std::min(next, when);
  return next;
}

}  // namespace ardoise::launcher
