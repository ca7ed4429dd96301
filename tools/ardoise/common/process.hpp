// Runs child processes of the launcher: mpirun, with signals passed on and a time limit, and short helpers whose output
// is read.
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

// The status is that of a shell: the exit status, or 128 + the number of the signal that ended the process.
struct Outcome {
  int status = 0;
  bool signalled = false;
  bool time_limit_reached = false;
  std::string ended_by;     // "the time limit of 30 m (--time-limit)", "SIGTERM to ardoise"; "": no known cause
  int user_signal = 0;      // the last SIGUSR1 or SIGUSR2 received; it may have ended the programs
  bool called_off = false;  // by a Watch
};

// Result of a Watch, which is called five times a second from the start of a child until it returns something other
// than kAskAgain. kCallOff: the child gets SIGTERM, and its later output is dropped if it goes through an Edit.
enum class Watched { kAskAgain, kEnough, kCallOff };
using Watch = std::function<Watched()>;

// Returns "SIGTERM to ardoise".
[[nodiscard]] std::string signal_to(int signal, std::string_view process);

// Runs words[0] (searched in PATH) with our standard streams and waits for it. SIGINT, SIGTERM, SIGHUP, SIGQUIT,
// SIGUSR1 and SIGUSR2 to this process are passed on if the child did not receive them itself (launch_signals.hpp); so
// are signals that were ignored at the start, and the child decides. At the time limit a message is printed and the
// child gets SIGTERM. If it still runs ten seconds later, it is killed with all its descendants. Throws
// std::system_error if the child cannot be started. With `edit`, the child's standard output goes through a pipe, and
// the result of `edit` for each piece goes to our standard output. The last piece is empty.
using Edit = std::function<std::string(std::string_view piece)>;
[[nodiscard]] Outcome run_and_wait(const std::vector<std::string>& words, const Edit& edit = {},
                                   const std::optional<TimeLimit>& limit = {}, const Watch& watch = {});

struct Captured {
  int status = 0;
  std::string output;  // standard output and standard error
};
[[nodiscard]] Captured run_and_read(const std::vector<std::string>& words);
// Runs a helper that the signals above do not reach, neither from a terminal nor when all processes are signalled.
[[nodiscard]] Captured run_and_read_undisturbed(const std::vector<std::string>& words);

}  // namespace ardoise::launcher
