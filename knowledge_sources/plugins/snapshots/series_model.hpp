// Converts the snapshots of ranks to a series of the model.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "knowledge_sources/contexts/place_nodes.hpp"
#include "knowledge_sources/interface/resolver.hpp"
#include "knowledge_sources/plugins/snapshots/rank_series.hpp"
#include "knowledge_sources/plugins/snapshots/timed_calls.hpp"
#include "knowledge_sources/snapshot_files/snapshot_list.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

[[nodiscard]] double sum_of(const std::vector<double>& list);

// By id (mark_name.hpp).
using MarkNameTable = std::map<std::uint32_t, std::string>;
[[nodiscard]] std::string name_of_mark(const MarkNameTable& names, std::uint64_t id);

// A rank in step, divided into its snapshots.
struct RankCut {
  std::uint32_t rank;
  std::vector<Snapshot> snapshots;
  std::span<const std::uint64_t> keys;       // by id, of calls
  std::span<const std::uint64_t> names;      // by id, of values
  std::span<const PlaceNodes::Where> where;  // by sampled place
  [[nodiscard]] std::uint64_t rounds() const;
};

// Calls by call site, with values for every snapshot. The expensive ones are listed, the others combined.
class CallsOverSnapshots {
 public:
  explicit CallsOverSnapshots(std::size_t snapshots) : snapshots_(snapshots) {}
  void add(std::uint64_t key, std::size_t snapshot, const CallSums& sums);
  [[nodiscard]] std::vector<reports::SnapshotCalls> take(const Resolver& resolver);

 private:
  std::size_t snapshots_;
  std::map<std::uint64_t, reports::SnapshotCalls> calls_;
};

// `cuts` (at least one) are in step: all have about as many rounds. has_rest: the last snapshot of each rank is the
// remainder after the last mark, and is kept separate. At most most_snapshots and the remainder. Fills all fields
// except those of the trigger.
void fill_series(std::span<const RankCut> cuts, bool has_rest, const Resolver& resolver, const ContextTree& tree,
                 const MarkNameTable& names, std::uint32_t ranks, std::size_t most_snapshots,
                 reports::SnapshotSeries& series);

// nullopt: no calls.
[[nodiscard]] std::optional<reports::SnapshotSeries> series_of(const TimedCalls& calls, const Resolver& resolver,
                                                               const reports::Application& application);

}  // namespace ardoise::knowledge_sources
