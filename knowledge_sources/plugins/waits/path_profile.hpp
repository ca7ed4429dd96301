// Activity of the ranks on the critical path (critical_path.hpp), by function and call site: at each point of the time
// grid on the path, the activity of its rank (rank_timeline.hpp). Ranks have exact shares of the path; the activities
// in them are estimates from these points, scaled to the sum of the ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knowledge_sources/contexts/place_nodes.hpp"
#include "knowledge_sources/interface/resolver.hpp"
#include "knowledge_sources/plugins/waits/critical_path.hpp"
#include "knowledge_sources/plugins/waits/rank_timeline.hpp"
#include "knowledge_sources/plugins/waits/world_programs.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

// Fills the path's fields of the model, for ranks of the program. timelines: by rank of the world.
void describe_path(CriticalPath::Path path, const ProgramRanks& program, std::span<const RankTimeline* const> timelines,
                   PlaceNodes& places, const Resolver& resolver, reports::Waiting& model);

}  // namespace ardoise::knowledge_sources
