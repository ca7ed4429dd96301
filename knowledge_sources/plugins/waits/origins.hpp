// The origins of waiting: a rank that is late because it waited itself passes the waiting for it on to the ranks that
// it waited for, and so on (the long-term cost of Böhme et al., see causes.hpp). An estimate: based on sums over the
// run, not on single waits.
#pragma once

#include <span>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

// caused: waiting for each rank. held_up: the part of its lateness that is time in MPI, 0 … 1. edges: waiting between
// ranks. By rank, in seconds; the sum is that of `caused`.
[[nodiscard]] std::vector<double> origins_of(std::span<const double> caused, std::span<const double> held_up,
                                             std::span<const reports::WaitEdge> edges);

}  // namespace ardoise::knowledge_sources
