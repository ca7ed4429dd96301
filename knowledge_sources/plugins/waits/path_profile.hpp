// What the ranks were doing on the critical path (critical_path.hpp), by function and call site: at each point of the
// time grid that the path comes by, what its rank was in (rank_timeline.hpp). Ranks have exact shares of the path; what
// they did in theirs is an estimate of so many points, and the sum is that of the ranks.
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

// Fills what of the model is of the path, as far as it is in ranks of the program. timelines: by rank of the world.
void describe_path(CriticalPath::Path path, const ProgramRanks& program, std::span<const RankTimeline* const> timelines,
                   PlaceNodes& places, const Resolver& resolver, reports::Waiting& model);

}  // namespace ardoise::knowledge_sources
