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

// Whether waiting was measured for nearly all collectives, or messages, of the program; false where it has none.
[[nodiscard]] bool collectives_are_known(const Application& application);
[[nodiscard]] bool messages_are_known(const Application& application);

// Much of its communication is not judged, since it is on intercommunicators, or several threads of a rank take part.
[[nodiscard]] bool meets_others(const Application& application);
// Every end of a message and every collective is known, so that nothing else can be on the critical path.
[[nodiscard]] bool is_path_whole(const Application& application);

// In ranks of the world; kNoRank: it was not for one rank.
[[nodiscard]] std::uint32_t awaited_in_world(const Application& application, const LongestWait& wait);
// Length of the critical path, over all programs of the world.
[[nodiscard]] double path_seconds(const Application& application);

// Seconds that its ranks waited for ranks of other programs.
[[nodiscard]] double waiting_for_others(const Application& application);

// How much longer a rank was away, where the ranks that waited for it waited `seconds` in all because of that: what the
// one that waited most for it waited. No rank is away for longer than the run.
[[nodiscard]] double longer_than_they(const Application& application, std::uint32_t awaited, double seconds);
[[nodiscard]] double longer_than_they(const Application& application, const WaitedOther& awaited, double seconds);

// Seconds that ranks waited for others in the calls of a function, as far as that is known.
[[nodiscard]] double waiting_in(const Application& application, const std::string& function);
// In those of a collective; nothing where that is not known.
[[nodiscard]] std::optional<double> measured_waiting(const Application& application, const std::string& function);

// Waiting for messages that others sent, or received, late.
struct MessageWaiting {
  double seconds = 0;              // of all ranks
  double late_senders = 0;         // of these
  const WaitSite* most = nullptr;  // the call site with the most
};
// All time in the calls of the function from there; 0: not known.
[[nodiscard]] double seconds_of_calls(const Application& application, const WaitSite& site);
[[nodiscard]] MessageWaiting message_waiting(const Application& application);

// The rank of another program that most of all waiting was for; nullptr where none stands out.
[[nodiscard]] const WaitedOther* most_awaited_other(const Application& application);

// The rank of the program that most of all waiting was for, or goes back to; nothing where no single one stands out.
struct AwaitedRank {
  std::uint32_t rank;  // in the program
  double share;        // of all waiting for a rank
  double direct;       // the part that is for itself, and not for ranks that wait for it
};
[[nodiscard]] std::optional<AwaitedRank> most_awaited(const Application& application);

// The rank itself waits nearly as long as others wait for it: it is late in turn with them, and nothing stands out.
[[nodiscard]] bool is_late_in_turn(const Application& application, std::uint32_t rank);

// Whether the cause stands for a quarter at least of `waited` seconds, and for more than the error of sampling.
[[nodiscard]] bool explains(const WaitCause& cause, double waited);

// What made a rank late most, beyond the error of sampling; nullptr where nothing explains a quarter of what was waited
// for it.
[[nodiscard]] const WaitCause* main_cause(const Application& application, std::uint32_t rank);

}  // namespace ardoise::reports
