// Queries on Application::waiting, for findings and the report.
#pragma once

#include <cstdint>
#include <string>

#include "reports/model.hpp"

namespace ardoise::reports {

// "Wait at all-to-all: until the last rank enters" for "wait_nxn"; an unknown pattern unchanged.
[[nodiscard]] std::string pattern_in_words(const std::string& pattern);
// Short: "wait at all-to-all".
[[nodiscard]] std::string short_pattern(const std::string& pattern);

// Waiting was measured for nearly all collectives, or messages, of the program; false: also if it has none.
[[nodiscard]] bool collectives_are_known(const Application& application);
[[nodiscard]] bool messages_are_known(const Application& application);

// Both ends of every message and every collective are known, so the critical path is exact.
[[nodiscard]] bool is_path_whole(const Application& application);

// The awaited world rank; kNoRank: not a single rank.
[[nodiscard]] std::uint32_t awaited_in_world(const Application& application, const LongestWait& wait);
// Length of the critical path through all programs of the world.
[[nodiscard]] double path_seconds(const Application& application);

// Total time in the site's calls; 0: unknown.
[[nodiscard]] double seconds_of_calls(const Application& application, const WaitSite& site);

}  // namespace ardoise::reports
