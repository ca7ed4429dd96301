// Queries on Application::waiting, for findings and the report.
#pragma once

#include <cstdint>
#include <optional>
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

// Much communication is not judged: it uses intercommunicators, or several threads of a rank.
[[nodiscard]] bool has_unjudged_calls(const Application& application);
// Both ends of every message and every collective are known, so the critical path is exact.
[[nodiscard]] bool is_path_whole(const Application& application);

// The awaited world rank; kNoRank: not a single rank.
[[nodiscard]] std::uint32_t awaited_in_world(const Application& application, const LongestWait& wait);
// Length of the critical path through all programs of the world.
[[nodiscard]] double path_seconds(const Application& application);

// Seconds that the program's ranks waited for ranks of other programs.
[[nodiscard]] double waiting_for_others(const Application& application);

// Time that an activity of the awaited rank took beyond that of the waiting ranks, if it caused `seconds` of waiting in
// total: the part of the rank that waited most. At most the length of the run.
[[nodiscard]] double extra_seconds(const Application& application, std::uint32_t awaited, double seconds);
[[nodiscard]] double extra_seconds(const Application& application, const WaitedOther& awaited, double seconds);

// Seconds that ranks waited for others in the calls of a function, as far as known.
[[nodiscard]] double waiting_in(const Application& application, const std::string& function);
// Likewise for a collective; nothing: unknown.
[[nodiscard]] std::optional<double> measured_waiting(const Application& application, const std::string& function);

// Waiting for messages that were sent or received late.
struct MessageWaiting {
  double seconds = 0;              // over all ranks
  double late_senders = 0;         // the part for late senders
  const WaitSite* most = nullptr;  // the call site with the most
};
// Total time in the site's calls; 0: unknown.
[[nodiscard]] double seconds_of_calls(const Application& application, const WaitSite& site);
[[nodiscard]] MessageWaiting message_waiting(const Application& application);

// The rank of another program for which most waiting was; nullptr: none stands out.
[[nodiscard]] const WaitedOther* most_awaited_other(const Application& application);

// The rank of this program that caused most waiting, directly or along chains of waits; nothing: none stands out.
struct AwaitedRank {
  std::uint32_t rank;  // in the program
  double share;        // of all waiting for a rank
  double direct;       // the part without chains: waits for this rank itself
};
[[nodiscard]] std::optional<AwaitedRank> most_awaited(const Application& application);

// The rank waits nearly as long as others wait for it: ranks are late in turn, and none stands out.
[[nodiscard]] bool is_late_in_turn(const Application& application, std::uint32_t rank);

// The cause explains at least a quarter of `waited` seconds, and more than its sampling error.
[[nodiscard]] bool explains(const WaitCause& cause, double waited);

// The largest cause of a rank's lateness; nullptr: none explains() the waiting for it.
[[nodiscard]] const WaitCause* main_cause(const Application& application, std::uint32_t rank);

}  // namespace ardoise::reports
