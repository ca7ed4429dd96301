// What Application::waiting says, for findings and the report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reports/model.hpp"

namespace ardoise::reports {

// "Wait at all-to-all: for the last rank to come" for "wait_nxn"; the pattern itself where it is not known.
[[nodiscard]] std::string pattern_in_words(const std::string& pattern);
// In a few words: "wait at all-to-all".
[[nodiscard]] std::string short_pattern(const std::string& pattern);

// Seconds that ranks waited for others in the calls of a collective; nothing where that was not measured for nearly all
// collectives of the program.
[[nodiscard]] std::optional<double> measured_waiting(const Application& application, const std::string& function);

// The rank that most of all waiting was for; nothing where no single one stands out.
struct AwaitedRank {
  std::uint32_t rank;  // in the program
  double share;        // of all waiting for a rank
};
[[nodiscard]] std::optional<AwaitedRank> most_awaited(const Application& application);

}  // namespace ardoise::reports
