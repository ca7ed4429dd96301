// Threads that need a processor, by host: a program's own, and those of the other programs of a launch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reports/losses/run_view.hpp"
#include "reports/model.hpp"

namespace ardoise::reports {

// Mean number of the program's threads that compute or wait for a processor, by rank.
[[nodiscard]] std::vector<double> threads_by_rank(const RunView& view);
// The same by host. Empty: not known.
[[nodiscard]] std::vector<double> threads_by_host(const RunView& view);

// Ranks that are bound to the same processors, too few for their threads, on a host with more.
struct SharedProcessors {
  std::vector<std::uint32_t> ranks;
  double threads = 0;                                    // that compute or wait for a processor, on average
  std::uint32_t first = 0, processors = 0, of_host = 0;  // the lowest one, their number, all of the host
};
// The set with most threads for each processor.
[[nodiscard]] std::optional<SharedProcessors> most_shared_processors(const RunView& view);

// Threads of all programs that need a processor ÷ processors, on the most crowded host of this one; 0: unknown.
[[nodiscard]] double runnable_per_processor(const RunView& view);

// On some host the program has more ranks than processors, and keeps these busy all the time by itself.
[[nodiscard]] bool fills_a_host(const Application& application);

// The processors that these ranks may use are busy with their own threads all the time.
[[nodiscard]] bool use_their_processors_up(const Application& application, const std::vector<std::uint32_t>& ranks);

// Sets Application::other_threads of all programs.
void count_other_threads(Run& run);

}  // namespace ardoise::reports
