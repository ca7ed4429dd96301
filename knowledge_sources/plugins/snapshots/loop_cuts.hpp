// The main loop of a program, and one that lies in it: their iterations in each rank, as snapshots.
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
  std::vector<RankCut> cuts;  // of the ranks in step; none: there is no loop
  std::uint64_t head = 0;     // the call that begins each iteration, as key
  std::uint32_t sites = 0;    // of the loop
  double regular = 0;         // mean of the ranks' (main_loop.hpp)
  // By rank; the cuts refer to them.
  std::vector<std::vector<std::uint64_t>> keys;
  std::vector<std::vector<PlaceNodes::Where>> where;
};

// The main loop, then the inner one, as far as there are any. ranks: nullptr where nothing is known of one. Those whose
// calls have no moments are left out.
[[nodiscard]] std::vector<LoopCuts> cut_by_loops(std::span<const std::unique_ptr<RankSeries>> ranks, PlaceNodes& nodes);

}  // namespace ardoise::knowledge_sources
