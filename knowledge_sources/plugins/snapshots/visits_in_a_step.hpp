// A loop's first call may occur several times in a time step, as a halo exchange does in each direction: then most
// rounds are short, and one in so many contains the work of the step. This joins the rounds of a step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knowledge_sources/snapshot_files/snapshot_list.hpp"

namespace ardoise::knowledge_sources {

// 2, 3, 4 or 6 if one in so many rounds, always at the same position, takes four times as long as any other; else 1.
// seconds: of each round, without its calls.
[[nodiscard]] std::size_t visits_in_a_step(std::span<const double> seconds);

// Joins each `visits` rounds into one; leftover rounds join the last complete one.
[[nodiscard]] std::vector<Snapshot> joined_by(std::size_t visits, std::vector<Snapshot> rounds);

}  // namespace ardoise::knowledge_sources
