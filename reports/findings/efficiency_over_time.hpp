// The efficiencies of POP over the time of a run, from the temporal map and waiting over time. Filled into the model
// when all knowledge sources have contributed; shown by the section on waiting.
#pragma once

#include "reports/model.hpp"

namespace ardoise::reports {

// Waiting::efficiency, Waiting::efficiency_over_time, and those of communicators, where what they follow from is known.
void fill_efficiencies(Application& application);

}  // namespace ardoise::reports
