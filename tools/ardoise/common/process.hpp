// Child processes of the launcher: mpirun itself, with signals passed on and a time limit, and short helpers whose
// output is read.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ardoise::launcher {

struct TimeLimit {
  std::chrono::duration<double> length;
  std::string words;  // "30 m"
};

// Status as a shell gives it: the exit status, or 128 + the number of the signal that ended it.
struct Outcome {
  int status = 0;
  bool signalled = false;
  bool time_limit_reached = false;
  std::string ended_by;     // "the time limit of 30 m (--time-limit)", "SIGTERM to ardoise"; "": nothing that is known
  int user_signal = 0;      // the last SIGUSR1 or SIGUSR2 that came; it may have ended the programs, or not
  bool called_off = false;  // by a Watch
};

// Asked five times a second from the start of a child on, until it says something else than kAskAgain. kCallOff: the
// child gets SIGTERM, and what it writes from then on is not passed on where it goes through an Edit.
enum class Watched { kAskAgain, kEnough, kCallOff };
using Watch = std::function<Watched()>;

// "SIGTERM to ardoise".
[[nodiscard]] std::string signal_to(int signal, std::string_view process);

// Runs words[0] (searched in PATH) with our standard streams and waits for it. Meanwhile SIGINT, SIGTERM, SIGHUP,
// SIGQUIT, SIGUSR1 and SIGUSR2 to this process are sent on where the child has not got them itself
// (launch_signals.hpp), also those that were ignored at the start (the child decides then). At the limit, which is
// said, the child gets SIGTERM; when it is still there ten seconds later, it is killed with all processes below it.
// Throws std::system_error when it cannot be started. With `edit`, the child's standard output is on a pipe: what
// `edit` makes of each piece goes to ours. The last piece is empty.
using Edit = std::function<std::string(std::string_view piece)>;
[[nodiscard]] Outcome run_and_wait(const std::vector<std::string>& words, const Edit& edit = {},
                                   const std::optional<TimeLimit>& limit = {}, const Watch& watch = {});

struct Captured {
  int status = 0;
  std::string output;  // of standard output and standard error
};
[[nodiscard]] Captured run_and_read(const std::vector<std::string>& words);
// The signals above do not reach it, neither from a terminal nor where all processes are sent one.
[[nodiscard]] Captured run_and_read_undisturbed(const std::vector<std::string>& words);

}  // namespace ardoise::launcher
