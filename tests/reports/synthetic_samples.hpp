// Call-stack samples for a synthetic program; see synthetic_run.hpp.
#pragma once

#include "reports/model.hpp"

namespace ardoise::reports::testing {

// Fills a.samples as a stencil solver would, from a.per_rank.wall_seconds.
void add_samples(Application& a);

}  // namespace ardoise::reports::testing
