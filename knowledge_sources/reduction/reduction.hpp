// The reduction of a whole launch, without MPI: one Level for each program, and the dispatcher of event packs. The
// analyzer feeds it from streams, replay and tests from memory or files:
//
//   blackboard::Blackboard board({.workers = 2});
//   Reduction reduction(board, registrar.factories());
//   reduction.add_program({.partition = 0, .name = "solver", .ranks = 64});
//   board.submit(blackboard::adopt_entry(Reduction::pack_type(), block, release, context));   // for every pack
//   board.drain();                   // with several analyzers: flush(), drain() until nothing moves between them;
//   again
//                                    // after end()
//   … on the other analyzers: bytes = reduction.partial();  on the root: reduction.absorb(bytes), any order
//   reduction.contribute(run);
//
// The results do not depend on the order of packs, nor on their distribution over workers and analyzers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "blackboard/blackboard.hpp"
#include "knowledge_sources/containers/sentences.hpp"
#include "knowledge_sources/reduction/level.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

class Reduction {
 public:
  // Registers the dispatcher with the board. The board must be drained before the Reduction is destroyed, and outlive
  // it.
  Reduction(blackboard::Blackboard& board, std::vector<AnalysisFactory> factories);
  ~Reduction();
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;

  // Before the first pack of the program. Any thread. Throws std::invalid_argument for an existing partition.
  Level& add_program(Program program);
  [[nodiscard]] Level* find(std::uint32_t partition);  // nullptr: no such program

  // The type of the entries to submit: one pack each, aligned to 8 bytes.
  [[nodiscard]] static blackboard::EntryType pack_type();

  // The following need a drained board.
  void flush() const;  // as Level::flush()
  void end() const;    // as Level::end()
  void shorten();      // as Analysis
  // The board has no room for a pack, and all jobs have ended: continues without the missing packs.
  void make_room() const;
  [[nodiscard]] std::vector<std::byte> partial() const;
  void absorb(std::span<const std::byte> partial);  // throws BadPartial; programs that are not here are ignored
  // Appends an Application for each program in the order of the partition ids, sets Run::started if it is empty, and
  // adds notices on rejected packs to Run::notices.
  void contribute(reports::Run& run) const;

 private:
  void dispatch(const blackboard::Context& context, const blackboard::EntryRef& pack);
  void refuse(const std::string& sentence);

  blackboard::Blackboard& board_;
  std::vector<AnalysisFactory> factories_;
  blackboard::SourceId dispatcher_;
  mutable std::shared_mutex levels_mutex_;  // taken once per pack, not per event
  WorldShares shares_;
  std::map<std::uint32_t, std::unique_ptr<Level>> levels_;
  mutable std::mutex refused_mutex_;
  Sentences refused_;  // packs of unknown programs
};

}  // namespace ardoise::knowledge_sources
