// A loop's first call may come several times in a time step, as an exchange of halos does in each direction: then most
// of its rounds are short, and one in so many has the step's work. Those that belong together become one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knowledge_sources/snapshot_files/snapshot_list.hpp"

namespace ardoise::knowledge_sources {

// 2, 3, 4 or 6 where one in so many rounds, always at the same place, takes four times as long as any other; else 1.
// seconds: of each round, less what it spent in calls.
[[nodiscard]] std::size_t visits_in_a_step(std::span<const double> seconds);

// Each `visits` rounds as one; what is left at the end goes with the last whole one.
[[nodiscard]] std::vector<Snapshot> joined_by(std::size_t visits, std::vector<Snapshot> rounds);

}  // namespace ardoise::knowledge_sources
