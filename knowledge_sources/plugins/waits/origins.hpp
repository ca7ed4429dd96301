// Where waiting goes back to: a rank that is late since it waited itself hands what was waited for it on to those that
// it waited for, and so on (the long-term cost of Böhme et al., see causes.hpp). An estimate: it follows sums over the
// run, not single waits.
#pragma once

#include <span>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

// caused: what was waited for each rank. held_up: the part of its lateness that is time in MPI, 0 … 1. edges: who
// waited for whom. By rank, in seconds; the sum is that of `caused`.
[[nodiscard]] std::vector<double> origins_of(std::span<const double> caused, std::span<const double> held_up,
                                             std::span<const reports::WaitEdge> edges);

}  // namespace ardoise::knowledge_sources
