// Finds out that a launch hangs: no process has made progress in MPI for a time (--hang). What the processes' survivors
// leave in the output folder then says why. Each analyzer leaves a mark while all processes that send to it stand or
// have ended; the first analyzer decides when all have.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyzer/hangs/stands.hpp"
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

  // Once in a while. own: the processes that send to this analyzer, and whether each has ended. On the first analyzer
  // the sentence for the user, once for each hang; else "".
  [[nodiscard]] std::string look(const std::map<ProcessKey, bool>& own);

 private:
  void mark(bool all_stand);
  // Brings the times of the stands to now.
  [[nodiscard]] bool do_all_stand(const std::map<ProcessKey, bool>& own, std::vector<ProcessStand>& stands);
  [[nodiscard]] std::string sentence(const std::vector<ProcessStand>& stands) const;

  const Setting setting_;
  const std::vector<knowledge_sources::Program> programs_;
  struct Seen {
    std::uint64_t tick = 0;
    std::chrono::steady_clock::time_point time;
  };
  std::map<ProcessKey, Seen> seen_;  // each stand, when it was first read
  bool is_marked_ = false, is_said_ = false;
};

}  // namespace ardoise::analyzer
