// Threads that need a processor, by host: a program's own, and those of the other programs of a launch.
#pragma once

#include <vector>

#include "reports/losses/run_view.hpp"
#include "reports/model.hpp"

namespace ardoise::reports {

// Mean number of the program's threads that compute or wait for a processor, by host. Empty: not known.
[[nodiscard]] std::vector<double> threads_by_host(const RunView& view);

// Sets Application::other_threads of all programs.
void count_other_threads(Run& run);

}  // namespace ardoise::reports
