// Starts children; see process.hpp.
#include "tools/ardoise/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

namespace ardoise::launcher {
namespace {

constexpr std::array kForwarded{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// Read in a signal handler: a lock-free atomic. Relaxed: it carries no other data.
std::atomic<pid_t> forward_to{0};

void forward(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  const pid_t child = forward_to.load(std::memory_order_relaxed);
  // The terminal signals the whole foreground group, the child included; twice would make mpirun give up at once.
  if (child > 0 && info->si_code != SI_KERNEL) ::kill(child, signal);
  errno = saved;
}

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  }
  ~Pipe() {
    ::close(ends_[0]);
    close_input();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int input() const { return ends_[1]; }
  void close_input() {
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }
  // Calls take(piece) until all writers have closed their ends.
  template <class Take>
  void read(Take take) {
    close_input();
    std::array<char, 65536> buffer;
    for (;;) {
      const auto got = ::read(ends_[0], buffer.data(), buffer.size());
      if (got > 0) take(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
      if (got == 0 || (got < 0 && errno != EINTR)) return;
    }
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Which streams of a child are not ours: a pipe for its output, and for a helper all three.
enum class Streams { kOurs, kOutputPiped, kHelper };

// Starts a child with our dispositions, those that call a function apart, and the mask that we were started with.
pid_t start(const std::vector<std::string>& words, Streams streams, const Pipe* pipe, const sigset_t& mask) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (streams != Streams::kOurs) posix_spawn_file_actions_adddup2(&actions, pipe->input(), STDOUT_FILENO);
  if (streams == Streams::kHelper) {
    posix_spawn_file_actions_adddup2(&actions, pipe->input(), STDERR_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start '" + words[0] + "'");
  return child;
}

Outcome wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), true};
  return {WEXITSTATUS(status), false};
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) return;  // nobody reads: the child goes on, as into /dev/null
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

Outcome run_and_wait(const std::vector<std::string>& words, const Edit& edit) {
  std::optional<Pipe> pipe;
  if (edit) pipe.emplace();
  // Blocked until the child's id is known, so that no signal in between is lost.
  sigset_t blocked, before;
  sigemptyset(&blocked);
  for (const int signal : kForwarded) sigaddset(&blocked, signal);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  pid_t child = 0;
  try {
    child = start(words, pipe ? Streams::kOutputPiped : Streams::kOurs, pipe ? &*pipe : nullptr, before);
  } catch (...) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  forward_to.store(child, std::memory_order_relaxed);
  // After the start: a signal that was ignored then (nohup, a background job of a script) is ignored in the child, too,
  // unless the child handles it. mpirun handles some, so all are passed on.
  std::array<struct sigaction, kForwarded.size()> old{};
  struct sigaction action {};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (std::size_t i = 0; i < kForwarded.size(); ++i) sigaction(kForwarded[i], &action, &old[i]);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pipe) {
    pipe->read([&](std::string_view piece) { write_all(edit(piece)); });
    write_all(edit({}));
  }
  const auto outcome = wait_for(child);
  for (std::size_t i = 0; i < kForwarded.size(); ++i) sigaction(kForwarded[i], &old[i], nullptr);
  forward_to.store(0, std::memory_order_relaxed);
  return outcome;
}

Captured run_and_read(const std::vector<std::string>& words) {
  Pipe pipe;
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  const pid_t child = start(words, Streams::kHelper, &pipe, mask);
  Captured captured;
  pipe.read([&](std::string_view piece) { captured.output += piece; });
  captured.status = wait_for(child).status;
  return captured;
}

}  // namespace ardoise::launcher
