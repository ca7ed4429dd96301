// Child processes of the launcher: mpirun itself, with signals passed on, and short helpers whose output is read.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ardoise::launcher {

// Status as a shell gives it: the exit status, or 128 + the number of the signal that ended it.
struct Outcome {
  int status = 0;
  bool signalled = false;
};

// Runs words[0] (searched in PATH) with our standard streams and waits for it. Meanwhile SIGINT, SIGTERM, SIGHUP,
// SIGQUIT, SIGUSR1 and SIGUSR2 that somebody sends to this process are sent on, also those that were ignored at the
// start (the child decides then); those the terminal sends reach the child anyway. Throws std::system_error when it
// cannot be started. With `edit`, the child's standard output is on a pipe: what `edit` makes of each piece goes to
// ours. The last piece is empty.
using Edit = std::function<std::string(std::string_view piece)>;
[[nodiscard]] Outcome run_and_wait(const std::vector<std::string>& words, const Edit& edit = {});

struct Captured {
  int status = 0;
  std::string output;  // of standard output and standard error
};
[[nodiscard]] Captured run_and_read(const std::vector<std::string>& words);

}  // namespace ardoise::launcher
