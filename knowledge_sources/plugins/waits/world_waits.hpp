// The waits of all ranks of one MPI_COMM_WORLD, which several programs may share: the core of `waits` (waits.cpp).
// Ranks are those of the world.
//
//   pack ──▶ in the order of its thread ──▶ its collectives: n-th on a communicator ──▶ matched with the others' n-th
//            (in_order.hpp)                 (rank_calls.hpp)                             (open_collectives.hpp)
//                                       └─▶ its ends of messages, in MPI's order      ──▶ matched with the other ends
//                                           (post_order.hpp)                              (messages.hpp)
//                                       └─▶ its epochs on windows, by number          ──▶ matched with the other halves
//                                           (rank_windows.hpp)                            (epochs.hpp, locks.hpp)
//
// Samples between a rank's calls are ordered with them. Each match gets a summary of the samples since the previous
// one, the stretch (stretch.hpp); causes.hpp sums stretches up.
//
// All packs of a rank go to one analyzer, those of its peers perhaps to others: each operation has a key, and is
// matched on the analyzer that owns it (knowledge_sources/interface/keyed.hpp, travel.hpp). The same holds for the
// waits of one call with several operations (shared_calls.hpp), and, on one analyzer for a world, for all waits of its
// critical path (critical_path.hpp). A wait of known length is sent back to the analyzer that has the waiter's packs,
// for sources that keep its calls there (wait_spans.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/containers/rank_locks.hpp"
#include "knowledge_sources/interface/analysis.hpp"
#include "knowledge_sources/interface/keyed.hpp"
#include "knowledge_sources/interface/resolver.hpp"
#include "knowledge_sources/matching/wait_spans.hpp"
#include "knowledge_sources/plugins/waits/critical_path.hpp"
#include "knowledge_sources/plugins/waits/epochs.hpp"
#include "knowledge_sources/plugins/waits/locks.hpp"
#include "knowledge_sources/plugins/waits/rank_calls.hpp"
#include "knowledge_sources/plugins/waits/travel.hpp"
#include "knowledge_sources/plugins/waits/world_programs.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

class WorldWaits final : public WorldShare {
 public:
  explicit WorldWaits(std::uint32_t ranks);

  // Returns its number. In the order of first ranks; all before the first pack. Throws std::invalid_argument.
  std::size_t add_program(const AnalysisContext& context, LevelSources& sources);

  // Spans of one program, by its number. `arrived`: reused memory.
  void add(std::size_t program, std::vector<Arrived>& arrived, const MpiSpan& span);
  void add_contexts(std::size_t program, const ContextSpan& span);
  void define(std::size_t program, std::vector<Arrived>& arrived, const DefinitionSpan& span);

  // For all programs together; see Analysis.
  void shorten() { path_.keep_latest(std::size_t{1} << 15); }
  [[nodiscard]] std::vector<std::byte> partial() const;
  void absorb(std::span<const std::byte> partial);
  // For one program.
  void contribute(std::size_t program, const Resolver& resolver, reports::Application& application) const;

 private:
  struct OfProgram {
    explicit OfProgram(const AnalysisContext& context)
        : ticks_per_second(context.ticks_per_second), contexts(context.ranks) {}
    double ticks_per_second;
    SampledRanks contexts;  // by rank of the program
    WaitSpans found;        // by rank of the program
  };
  using Places = std::vector<std::vector<SampledPlace>>;

  void attach(const std::string& level, LevelSources& sources);
  void add_inits_and_finalizes();
  void give_up_missing();
  void meet(RankCalls& rank, std::span<const Arrived> arrived);
  void add_window_parts(RankCalls& rank);
  void report_to_waiter(const Wait& wait);
  void add(const WindowPart& part);
  void arrive(const Travelling& record, unsigned from);
  [[nodiscard]] WaitSums all_sums(CriticalPath& path) const;
  [[nodiscard]] Places all_places() const;
  [[nodiscard]] std::vector<const RankTimeline*> all_timelines() const;
  [[nodiscard]] const Resolver& resolver_of(std::size_t program, std::size_t own, const Resolver& resolver) const;
  void contribute_path(std::size_t program, const Resolver& resolver, CriticalPath& jumps, const Places& places,
                       reports::Waiting& model) const;
  void contribute_others(std::size_t program, const WaitSums& sums, const Resolver& resolver, const Places& places,
                         reports::Waiting& model) const;
  static PathJump jump_of(const Wait& wait) {
    return {wait.waiter, wait.awaited, static_cast<std::int64_t>(wait.begin) + static_cast<std::int64_t>(wait.ns)};
  }
  static void add_jump(CriticalPath& path, const Wait& wait) {
    const PathJump jump = jump_of(wait);
    path.add(jump.waiter, jump.awaited, jump.time);
  }

  WorldPrograms programs_;
  std::deque<OfProgram> of_programs_;
  RankLocks locks_;
  std::vector<RankCalls> ranks_;
  std::mutex mutex_;  // guards the members below; taken after a rank's
  OpenCollectives open_collectives_;
  Messages messages_;
  Epochs epochs_;
  Locks locks_of_windows_;
  WaitSums sums_;
  CriticalPath path_;
  std::uint64_t path_key_ = 0;
  std::uint32_t hint_ = 0;               // hint for ends from other analyzers
  Places places_;                        // of other analyzers
  std::vector<RankTimeline> timelines_;  // of other analyzers
  std::vector<unsigned> homes_;          // by rank: the analyzer that has its packs, if known
  Keyed<Travelling, TravelCodec> travelling_;
};

}  // namespace ardoise::knowledge_sources
