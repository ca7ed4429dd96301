// What Hydra's exit status would be without the analyzers. Hydra ors the statuses of all processes, and those that it
// ends itself because another one failed may be among them, each with 9 (SIGKILL): by chance, since it depends on the
// order in which they go, and nearly always where three or more processes are left, as beside an analyzer. Asked to, it
// lists them:
//
//   [mpiexec@host] Exit codes: [host] 0,1792,9
//   [other] 9,9
//
// From this the launcher makes the status of those that ended by themselves, and takes the list out of the output
// again.
#pragma once

#include <string>
#include <string_view>

namespace ardoise::launcher {

inline constexpr const char* kHydraStatusOption = "-print-all-exitcodes";

class HydraStatus {
 public:
  // keep_list: the user has asked for it, too.
  explicit HydraStatus(bool keep_list) : keeps_list_(keep_list) {}

  // A piece of mpiexec's standard output; returns what is to be passed on now, in order. Holds back no more than what
  // may be the begin of the list.
  [[nodiscard]] std::string pass(std::string_view piece);
  // At the end of the output: what was held back.
  [[nodiscard]] std::string rest();

  // mpiexec's own status where there was no list, or where it names no process but those that were killed.
  [[nodiscard]] int status(int of_mpiexec) const;

 private:
  // True: the line, without its end, belongs to the list.
  bool take(std::string_view line);
  void take_codes(std::string_view codes);

  bool keeps_list_;
  bool in_list_ = false;
  std::string held_;
  int failed_ = 0;  // statuses as of waitpid(), or-ed
};

}  // namespace ardoise::launcher
