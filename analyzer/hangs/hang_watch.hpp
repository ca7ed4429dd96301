// Detects that a launch hangs: no process has made progress in MPI for a time (--hang). The files that the processes'
// survivors leave in the output folder give the reason. Each analyzer leaves a mark while all processes that send to it
// are blocked or have ended; the first analyzer reports when all analyzers have.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyzer/hangs/stalled_processes.hpp"
#include "knowledge_sources/reduction/reduction.hpp"

namespace ardoise::analyzer {

class HangWatch {
 public:
  struct Setting {
    std::filesystem::path folder;
    double seconds = 60;  // without progress; > 0
    unsigned rank = 0, analyzers = 1;
  };
  HangWatch(Setting setting, std::vector<knowledge_sources::Program> programs)
      : setting_(std::move(setting)), programs_(std::move(programs)) {}

  ~HangWatch() { mark(false); }
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;

  // Called periodically. own: the processes that send to this analyzer, and whether each has ended. Returns, on the
  // first analyzer and once for each hang, the sentence for the user; otherwise "".
  [[nodiscard]] std::string look(const std::map<ProcessKey, bool>& own);

 private:
  void mark(bool all_stalled);
  // Advances the times of the blocked processes to now.
  [[nodiscard]] bool are_all_stalled(const std::map<ProcessKey, bool>& own, std::vector<StalledProcess>& processes);
  [[nodiscard]] std::string sentence(const std::vector<StalledProcess>& processes) const;

  const Setting setting_;
  const std::vector<knowledge_sources::Program> programs_;
  struct Seen {
    std::uint64_t tick = 0;
    std::chrono::steady_clock::time_point time;
  };
  std::map<ProcessKey, Seen> seen_;  // when each blocked process was first read
  bool is_marked_ = false, is_said_ = false;
};

}  // namespace ardoise::analyzer
