// Detects that a launch hangs: no process has made progress in MPI for a time (--hang). The files that the processes'
// survivors leave in the output folder give the reason. Each analyzer leaves a mark while all processes that send to it
// are blocked or have ended; the first analyzer reports when all analyzers have.
//
// Files are written one after another, so together they may show a state that the launch never was in: a rank has read
// its message and the other has ended since its file was written. A fault is therefore reported only from files that
// were all written after the last rank had entered its state: a consistent cut (Chandy, Lamport: Distributed Snapshots,
// TOCS 1985). Survivors renew their files, so a real deadlock gets there.
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

  using Time = std::chrono::steady_clock::time_point;
  // Called periodically. own: the processes that send to this analyzer, and whether each has ended. Returns, on the
  // first analyzer and once for each hang, the sentence for the user; otherwise "". A fault waits for its proof.
  [[nodiscard]] std::string look(const std::map<ProcessKey, bool>& own, Time now = std::chrono::steady_clock::now());

 private:
  void mark(bool all_stalled);
  // Advances the times of the blocked processes to now.
  [[nodiscard]] bool are_all_stalled(const std::map<ProcessKey, bool>& own, std::vector<StalledProcess>& processes,
                                     Time now);
  // True if some time exists at which all processes were in the states that the files show.
  [[nodiscard]] bool is_consistent(const std::vector<StalledProcess>& processes) const;
  // Empty: a fault that the files do not prove yet.
  [[nodiscard]] std::string sentence(const std::vector<StalledProcess>& processes) const;

  const Setting setting_;
  const std::vector<knowledge_sources::Program> programs_;
  struct Seen {
    std::uint64_t tick = 0;
    Time time;        // of the first look that found the file of this tick
    Time not_before;  // of the look before it: the file is younger
    Time entered;     // its state, at the latest
  };
  std::map<ProcessKey, Seen> seen_;        // of each blocked process
  std::map<ProcessKey, Time> gone_since_;  // processes that have ended, or whose file is gone
  Time last_look_;
  bool is_marked_ = false, is_said_ = false;
};

}  // namespace ardoise::analyzer
