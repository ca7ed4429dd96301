// The main loop of a program and an inner loop: their iterations in each rank, as snapshots.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "knowledge_sources/contexts/place_nodes.hpp"
#include "knowledge_sources/plugins/snapshots/call_series.hpp"
#include "knowledge_sources/plugins/snapshots/rank_series.hpp"
#include "knowledge_sources/plugins/snapshots/series_model.hpp"

namespace ardoise::knowledge_sources {

[[nodiscard]] std::vector<std::uint64_t> keys_of(const CallSeries& series);  // by site

struct LoopCuts {
  std::vector<RankCut> cuts;  // of the ranks in step; empty: no loop
  std::uint64_t head = 0;     // key of the call that begins each iteration
  std::uint32_t sites = 0;    // number of sites of the loop
  double regular = 0;         // mean over the ranks (main_loop.hpp)
  // By rank; the cuts refer to them.
  std::vector<std::vector<std::uint64_t>> keys;
  std::vector<std::vector<PlaceNodes::Where>> where;
};

// The main loop, then the inner one, if found. ranks: nullptr for ranks without data. Ranks whose calls have no times
// are left out.
[[nodiscard]] std::vector<LoopCuts> cut_by_loops(std::span<const std::unique_ptr<RankSeries>> ranks, PlaceNodes& nodes);

}  // namespace ardoise::knowledge_sources
