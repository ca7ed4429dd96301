// The knowledge sources of one program's level on the blackboard: what Analysis::attach() adds them with. They leave
// the board together, when this object goes.
#pragma once

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

  // As Blackboard::add() and workers().
  void add(blackboard::KnowledgeSource source) { ids_.push_back(board_.add(std::move(source))); }
  [[nodiscard]] unsigned workers() const noexcept { return board_.workers(); }

 private:
  blackboard::Blackboard& board_;
  std::vector<blackboard::SourceId> ids_;
};

}  // namespace ardoise::knowledge_sources
