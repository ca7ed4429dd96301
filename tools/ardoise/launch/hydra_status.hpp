// Computes Hydra's exit status without the analyzers. Hydra combines the statuses of all processes by or. These may
// include processes that Hydra ended itself because another one failed, each with 9 (SIGKILL). Whether they do depends
// on the order in which processes end; with three or more processes left, as beside an analyzer, they nearly always do.
// With an option Hydra lists the statuses:
//
//   [mpiexec@host] Exit codes: [host] 0,1792,9
//   [other] 9,9
// From this list the launcher computes the status of the processes that ended by themselves. It removes the list from
// the output.
#pragma once

#include <string>
#include <string_view>

namespace ardoise::launcher {

inline constexpr const char* kHydraStatusOption = "-print-all-exitcodes";

class HydraStatus {
 public:
  // keep_list: the user asked for the list, too.
  explicit HydraStatus(bool keep_list) : keeps_list_(keep_list) {}

  // Takes a piece of mpiexec's standard output and returns the part to pass on now, in order. Holds back only what may
  // be the beginning of the list.
  [[nodiscard]] std::string pass(std::string_view piece);
  // Returns what was held back, at the end of the output.
  [[nodiscard]] std::string rest();

  // Returns `of_mpiexec` if there was no list, or if the list names only killed processes.
  [[nodiscard]] int status(int of_mpiexec) const;

 private:
  // True: the line, given without its end, belongs to the list.
  bool take(std::string_view line);
  void take_codes(std::string_view codes);

  bool keeps_list_;
  bool in_list_ = false;
  std::string held_;
  int failed_ = 0;  // combined statuses as of waitpid()
};

}  // namespace ardoise::launcher
