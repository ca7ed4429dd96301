#include "reports/findings/ending_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/findings/findings.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

std::string ranks_in_words(const Application& app, std::span<const std::uint32_t> ranks) {
  constexpr std::size_t kMostRanges = 6;
  std::vector<std::uint32_t> sorted(ranks.begin(), ranks.end());
  std::ranges::sort(sorted);
  if (sorted.empty()) return "no rank";
  if (sorted.size() == 1) return fmt::format("rank {}", app.world_rank(sorted.front()));
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i + 1;
    while (end < sorted.size() && sorted[end] == sorted[end - 1] + 1) ++end;
    const std::uint32_t first = app.world_rank(sorted[i]), last = app.world_rank(sorted[end - 1]);
    if (first == last) {
      ranges.push_back(fmt::format("{}", first));
    } else if (last == first + 1) {
      ranges.push_back(fmt::format("{}", first));
      ranges.push_back(fmt::format("{}", last));
    } else {
      ranges.push_back(fmt::format("{}–{}", first, last));
    }
    i = end;
  }
  if (ranges.size() > kMostRanges)
    return fmt::format("ranks {}, {} … {} ({} ranks)", ranges[0], ranges[1], ranges.back(), sorted.size());
  std::string text = "ranks " + ranges.front();
  for (std::size_t i = 1; i < ranges.size(); ++i) text += (i + 1 == ranges.size() ? " and " : ", ") + ranges[i];
  return text;
}

std::string place_in_words(const StackPlace& place) {
  if (place.symbol.empty() && place.source_file.empty() && place.module.empty()) return "";
  return in_sentence(name_of(place));
}

std::string place_in_words(const std::vector<StackPlace>& stack) {
  if (stack.empty()) return "";
  const std::string innermost = place_in_words(stack.front());
  const auto known = std::ranges::find_if(stack, [](const StackPlace& place) { return !place.source_file.empty(); });
  if (known == stack.begin() || known == stack.end()) return innermost;
  return fmt::format("{}, called below {}", innermost, place_in_words(*known));
}

std::string call_in_words(const Application& app, const LastCall& call) {
  std::string text = call.function;
  if (const std::string place = place_in_words(call.place); !place.empty()) text += " in " + place;
  static constexpr std::array<std::string_view, 8> kRooted{"_Bcast",   "_Ibcast",   "_Gather", "_Igather",
                                                          "_Scatter", "_Iscatter", "_Reduce", "_Ireduce"};
  const bool is_rooted = call.tag == kNoTag && std::ranges::any_of(kRooted, [&](std::string_view operation) {
                           return call.function.find(operation) != std::string::npos;
                         });
  const bool receives =
      call.function.find("ecv") != std::string::npos || call.function.find("robe") != std::string::npos;
  const char* const preposition = is_rooted ? " with root" : receives ? " from" : " to";
  if (call.peer >= 0)
    text += fmt::format("{} rank {}", preposition, app.world_rank(static_cast<std::uint32_t>(call.peer)));
  if (call.peer == kAnyPeer) text += " from any rank";
  if (call.peer == kOtherPeer) text += fmt::format("{} a rank of another program", preposition);
  if (call.peer == kSeveralPeers) text += fmt::format("{} different ranks", preposition);
  if (call.tag >= 0) text += fmt::format(" with tag {}", call.tag);
  if (!call.communicator.empty() && call.communicator != "MPI_COMM_WORLD" && call.communicator != "MPI COMM WORLD")
    text += " on " + in_sentence(call.communicator);
  if (!call.file.empty()) text += " of " + in_sentence(base_name(call.file));
  return text;
}

std::string how_in_words(const RankEnd& end) {
  if (end.cause == "abort") return fmt::format("called MPI_Abort with code {}", end.status);
  if (end.cause == "error")
    return fmt::format("was ended by MPI, which found an error in {} (exit status {})", end.call.function, end.status);
  if (end.cause == "exit") {
    return end.stack.empty() ? fmt::format("returned {} from main without MPI_Finalize", end.status)
                             : fmt::format("called exit({}) without MPI_Finalize", end.status);
  }
  if (end.cause == "immediate exit") return fmt::format("called _exit({}) without MPI_Finalize", end.status);
  if (end.cause == "exec") {
    return end.call.file.empty()
               ? "was replaced by another program (exec) without MPI_Finalize"
               : fmt::format("was replaced by {} (exec) without MPI_Finalize", in_sentence(end.call.file));
  }
  if (end.cause == "launcher") return "was ended by MPI after its connection to the launcher broke";
  if (end.cause == "killed" && end.signal == "SIGKILL") return "was killed (SIGKILL)";
  if (end.cause == "killed") return "was ended by " + end.signal;
  if (end.cause == "signal") {
    const bool is_access = end.has_address && (end.signal == "SIGSEGV" || end.signal == "SIGBUS");
    if (is_access) return fmt::format("was ended by {} at address {:#x}", end.signal, end.address);
    return "was ended by " + end.signal;
  }
  return "ended without MPI_Finalize";
}

std::string where_in_words(const RankEnd& end) {
  std::string place = place_in_words(end.stack);
  if (!end.call.function.empty() && !end.has_address && end.cause != "exec") {
    place = place_in_words(end.call.place);
    if (end.cause != "abort" && end.cause != "error") {
      place = place.empty() ? end.call.function : fmt::format("{} in {}", end.call.function, place);
    }
  }
  return place.empty() ? "" : " in " + place;
}

std::string position_in_words(const Application& app, const RankPosition& position) {
  if (position.call.function.empty() && !position.after.function.empty())
    return "outside MPI and I/O calls, after " + call_in_words(app, position.after);
  if (position.call.function.empty()) {
    const std::string place = place_in_words(position.stack);
    return place.empty() ? "outside MPI and I/O calls" : "in " + place;
  }
  const std::string since = human_seconds(position.most_seconds);
  const std::string least = human_seconds(position.least_seconds);
  return fmt::format("in {} for {}", call_in_words(app, position.call),
                     since == least ? since : least + " to " + since);
}

}  // namespace ardoise::reports
