// POP efficiencies over the time of a run, from the temporal map and waiting over time.
#pragma once

#include "reports/model.hpp"

namespace ardoise::reports {

// Fills Waiting::efficiency, Waiting::efficiency_over_time and those of communicators, if their inputs are known. Call
// it after all knowledge sources have contributed.
void fill_efficiencies(Application& application);

}  // namespace ardoise::reports
