// The analysis of one program: the analyses of all plug-ins on one level of the blackboard, and the definitions and
// accounts that all of them need. Made by Reduction (reduction.hpp) for each program; fed by the dispatcher; needs no
// MPI.
//
//   dispatcher ──unpack()──▶ typed spans on the level ──▶ analyses (plug-ins)
//                                                    └──▶ DefinitionStore, Accounts        … drain …
//   partial() ─▶ bytes ─▶ absorb() on the root analyzer ─▶ contribute(): LevelResolver + analyses ─▶ Application
//
// If an analysis throws, only its own part is lost; a notice says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "blackboard/blackboard.hpp"
#include "instrument/format/pack_reader.hpp"
#include "knowledge_sources/containers/sentences.hpp"
#include "knowledge_sources/interface/analysis.hpp"
#include "knowledge_sources/interface/resolver.hpp"
#include "knowledge_sources/reduction/accounts.hpp"
#include "knowledge_sources/reduction/definition_store.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

class LevelResolver;

struct Program {
  std::uint32_t partition = 0;  // number of the program in the launch: the partition of its packs here
  std::string name;  // unique in the launch
  std::uint32_t ranks = 0;
  double ticks_per_second = 1e9;  // nominal; used if neither a pack nor a definition of the rank has a rate
  // Its MPI_COMM_WORLD, which other programs may share; the program's ranks are consecutive there.
  std::uint32_t world = 0;  // the partition
  WorldPart place{};        // ranks 0: the whole world
  SnapshotSettings snapshots{};
  TraceSettings traces{};
  [[nodiscard]] bool shares_world() const { return place.world_ranks > ranks; }
};

// Shared state of plug-ins, by world and name of the plug-in.
using WorldShares = std::map<std::pair<std::uint32_t, std::string>, std::shared_ptr<WorldShare>>;

class Level {
 public:
  // Creates and attaches one analysis of each factory. The board must outlive the level, and must have run all jobs of
  // the level (drain()) before the level is destroyed.
  Level(blackboard::Blackboard& board, Program program, std::span<const AnalysisFactory> factories,
        WorldShares& shares);
  ~Level();
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

  [[nodiscard]] const Program& program() const { return program_; }

  // Submits the records of a checked pack as a typed span that refers to `pack`. Any thread. Packs of other programs
  // are rejected.
  void unpack(const blackboard::Context& context, const blackboard::EntryRef& pack, const instrument::PackView& view);
  // Counts a rejected pack of this program, with the reason.
  void refuse(const std::string& sentence);

  // The following need a drained board.

  // Sends data held back for other analyzers. partial() is complete when none of it is in flight anywhere.
  void flush() const;
  // Then: LevelSources::at_end. Followed by flush() and drain as before.
  void end() const;
  void make_room() const;  // LevelSources::at_no_room
  void shorten();          // as Analysis
  [[nodiscard]] std::vector<std::byte> partial() const;
  // Adds the partial results of another analyzer's level of the same program. Throws BadPartial when the whole is
  // unreadable; a malformed part of one analysis loses only that part, with a notice.
  void absorb(std::span<const std::byte> partial);
  [[nodiscard]] std::unique_ptr<LevelResolver> make_resolver() const;
  void contribute(const LevelResolver& resolver, reports::Application& application) const;

 private:
  struct Member {
    std::string name;
    std::unique_ptr<Analysis> analysis;
    std::unique_ptr<LevelSources> sources;  // destroyed first
  };
  void note(std::string sentence) const;

  Program program_;
  AnalysisContext context_;
  std::unique_ptr<Accounts> accounts_;
  std::unique_ptr<DefinitionStore> definitions_;
  LevelSources own_sources_;  // of the accounts and the definitions
  std::vector<Member> members_;
  mutable std::mutex notes_mutex_;
  Sentences refused_;        // rejected packs and the reasons
  mutable Sentences notes_;  // analyses that failed
};

}  // namespace ardoise::knowledge_sources
