// Names of the calls, places and loops in a snapshot file, resolved at the end of the run.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "knowledge_sources/contexts/place_nodes.hpp"
#include "knowledge_sources/interface/resolver.hpp"
#include "knowledge_sources/snapshot_files/snapshot_sink.hpp"
#include "reports/snapshots.hpp"

namespace ardoise::knowledge_sources {

// For one program.
class SinkNames {
 public:
  // sink, resolver, tree: borrowed.
  SinkNames(SnapshotSink& sink, std::uint32_t partition, const Resolver& resolver, const ContextTree& tree)
      : sink_(sink), partition_(partition), resolver_(resolver), tree_(tree) {}

  // Names the rank's calls and sampled places. keys: as in CallSums, each once; where: by number of the place.
  void give(std::uint32_t rank, std::span<const std::uint64_t> keys, std::span<const PlaceNodes::Where> where);

 private:
  SnapshotSink& sink_;
  const std::uint32_t partition_;
  const Resolver& resolver_;
  const ContextTree& tree_;
  std::set<std::uint64_t> named_;  // named calls, which are common to all ranks
};

// "inner: MPI_Send in step (solver.c:31)"
[[nodiscard]] std::string title_of_loop(const reports::SnapshotSeries& series);

}  // namespace ardoise::knowledge_sources
