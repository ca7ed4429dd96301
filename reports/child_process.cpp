#include "reports/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>

namespace ardoise::reports {

namespace {

constexpr int kNotFound = 127, kNotStarted = 126;

volatile std::sig_atomic_t is_interrupted = 0;  // written by signal handlers

// In the child after fork: only async-signal-safe calls, because the caller may have threads.
[[noreturn]] void become(char* const* arguments, char* const* environment, const ChildOptions& options) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(kNotStarted);
  const int nothing = ::open("/dev/null", O_RDWR);
  if (nothing < 0) ::_exit(kNotStarted);
  for (const int stream : {0, 1, 2}) ::dup2(nothing, stream);
  ::execvpe(arguments[0], arguments, environment);
  // EACCES: a folder of PATH is not readable; the program was not found.
  const bool is_nowhere = errno == ENOENT || (errno == EACCES && std::strchr(arguments[0], '/') == nullptr);
  ::_exit(is_nowhere ? kNotFound : kNotStarted);
}

bool is_unwanted(std::string_view variable) {
  for (const char* start : {"LD_PRELOAD=", "OMPI_", "PMIX_", "PMI_", "TEXINPUTS"}) {
    if (variable.starts_with(start)) return true;
  }
  return false;
}

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

std::vector<std::string> clean_environment(const ChildOptions& options) {
  std::vector<std::string> kept = options.variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const auto is_given = [&](const std::string& variable) { return name_of(variable) == name_of(*each); };
    if (!is_unwanted(*each) && std::none_of(options.variables.begin(), options.variables.end(), is_given))
      kept.emplace_back(*each);
  }
  return kept;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

void interrupt_children(bool interrupted) noexcept { is_interrupted = interrupted ? 1 : 0; }

ChildResult run_child(const std::vector<std::string>& arguments, const ChildOptions& options) {
  const auto interrupted = [] { return is_interrupted != 0; };
  if (interrupted()) return {ChildResult::End::interrupted};
  std::vector<std::string> words = arguments, variables = clean_environment(options);
  const std::vector<char*> argv = pointers(words), envp = pointers(variables);
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child == 0) become(argv.data(), envp.data(), options);

  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(options.timeout_seconds);
  ChildResult::End end = ChildResult::End::finished;
  int status = 0;
  // Polls with a growing pause: a pidfd needs Linux 5.3, a SIGCHLD handler would change the caller's process.
  for (int pause_ms = 1;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return {};
    if (end == ChildResult::End::finished && (interrupted() || Clock::now() >= deadline)) {
      end = interrupted() ? ChildResult::End::interrupted : ChildResult::End::timed_out;
      ::kill(-child, SIGKILL);
      ::kill(child, SIGKILL);  // its process group may not exist yet
    }
    ::poll(nullptr, 0, pause_ms);
    if (pause_ms < 16) pause_ms *= 2;
  }
  if (end != ChildResult::End::finished) return {end};
  if (WIFSIGNALED(status)) return {ChildResult::End::finished, 128 + WTERMSIG(status)};
  if (WEXITSTATUS(status) == kNotFound) return {ChildResult::End::not_found, kNotFound};
  if (WEXITSTATUS(status) == kNotStarted) return {ChildResult::End::failed_to_start, kNotStarted};
  return {ChildResult::End::finished, WEXITSTATUS(status)};
}

}  // namespace ardoise::reports
