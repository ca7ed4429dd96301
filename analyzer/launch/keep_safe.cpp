#include "analyzer/launch/keep_safe.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

namespace ardoise::analyzer {

KeepSafe::~KeepSafe() {
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);  // files are written beside and renamed
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void KeepSafe::write() {
  if (child_ > 0 && ::waitpid(child_, nullptr, WNOHANG) == 0) return;
  std::vector<std::string> words{"ardoise-analyzer", "--snapshot", "--keep",       "--quiet",
                                 "--no-report",      "--output",   options_.output};
  for (const std::string& plugin : options_.plugins) words.insert(words.end(), {"--plugin", plugin});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // Not fork(): that copies pages that a network writes into (registered_memory.hpp). Only system calls follow.
  child_ = ::vfork();
  if (child_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  [[maybe_unused]] const int niceness = ::nice(10);
  ::execv("/proc/self/exe", arguments.data());
  ::_exit(1);
}

}  // namespace ardoise::analyzer
