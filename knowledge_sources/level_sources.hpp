// The knowledge sources of one program's level on the blackboard: what Analysis::attach() adds them with. They leave
// the board together, when the program does or when this object goes.
#pragma once

#include <utility>
#include <vector>

#include "blackboard/blackboard.hpp"

namespace ardoise::knowledge_sources {

// Used by one thread, outside of operations. The board must outlive it.
class LevelSources {
 public:
  explicit LevelSources(blackboard::Blackboard& board) : board_(board) {}
  ~LevelSources() { remove_all(); }
  LevelSources(const LevelSources&) = delete;
  LevelSources& operator=(const LevelSources&) = delete;

  // As Blackboard::add() and workers().
  void add(blackboard::KnowledgeSource source) { ids_.push_back(board_.add(std::move(source))); }
  [[nodiscard]] unsigned workers() const noexcept { return board_.workers(); }

  // Returns when no job of any of them runs or ever will.
  void remove_all() {
    for (const auto id : std::exchange(ids_, {})) board_.remove(id);
  }

 private:
  blackboard::Blackboard& board_;
  std::vector<blackboard::SourceId> ids_;
};

}  // namespace ardoise::knowledge_sources
