// The knowledge sources of one program's level on the blackboard: Analysis::attach() adds them, and the destructor
// removes them together.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "blackboard/blackboard.hpp"

namespace ardoise::knowledge_sources {

// Used by one thread, outside of operations. The board must outlive it.
class LevelSources {
 public:
  explicit LevelSources(blackboard::Blackboard& board) : board_(board) {}
  ~LevelSources() {
    for (const auto id : ids_) board_.remove(id);
  }
  LevelSources(const LevelSources&) = delete;
  LevelSources& operator=(const LevelSources&) = delete;

  // See Blackboard::add() and workers().
  void add(blackboard::KnowledgeSource source) { ids_.push_back(board_.add(std::move(source))); }
  [[nodiscard]] unsigned workers() const noexcept { return board_.workers(); }
  [[nodiscard]] blackboard::Blackboard& board() const noexcept { return board_; }

  // Calls action() when the packs of this analyzer have ended, and again while entries move between analyzers: data
  // held back for others must be sent then. Nothing runs on the board meanwhile.
  void at_quiet(std::function<void()> action) { at_quiet_.push_back(std::move(action)); }
  void run_at_quiet() const {
    for (const auto& action : at_quiet_) action();
  }
  // Calls action() once, when all programs have ended and no entry is in flight between analyzers: for results that
  // need this. Data that it submits, or holds back until the next quiet, is used before partial().
  void at_end(std::function<void()> action) { at_end_.push_back(std::move(action)); }
  void run_at_end() const {
    for (const auto& action : at_end_) action();
  }
  // Calls action() when the board has no room for a pack though all jobs have ended: sources that wait for missing
  // packs have to continue without them. Nothing runs on the board meanwhile.
  void at_no_room(std::function<void()> action) { at_no_room_.push_back(std::move(action)); }
  void run_at_no_room() const {
    for (const auto& action : at_no_room_) action();
  }

 private:
  blackboard::Blackboard& board_;
  std::vector<blackboard::SourceId> ids_;
  std::vector<std::function<void()>> at_quiet_, at_end_, at_no_room_;
};

}  // namespace ardoise::knowledge_sources
