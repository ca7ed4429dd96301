// A better order of ranks on their hosts.
#pragma once

#include "reports/model.hpp"

namespace ardoise::reports {

// The part of the bytes between hosts that would stay on a host if ranks with most bytes between them shared one: a
// greedy grouping by the largest edges, hosts keep their numbers of ranks. 0: one host, or nothing to gain.
[[nodiscard]] double bytes_saved_by_placement(const Application& application);

}  // namespace ardoise::reports
