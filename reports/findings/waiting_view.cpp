#include "reports/findings/waiting_view.hpp"

#include <algorithm>
#include <array>

namespace ardoise::reports {

namespace {

struct Words {
  const char *pattern, *brief, *whole;
};
constexpr std::array<Words, 17> kWords{
    {{"wait_nxn", "wait at all-to-all", "Wait at all-to-all: until the last rank enters"},
     {"wait_barrier", "wait at barrier", "Wait at barrier: until the last rank enters"},
     {"barrier_completion", "barrier completion", "Barrier completion: after the first rank left"},
     {"late_broadcast", "late root", "Late root: of a collective such as MPI_Bcast"},
     {"early_reduce", "early root", "Early root: of a collective such as MPI_Reduce"},
     {"early_scan", "early scan", "Early scan: until the last lower rank enters"},
     {"nonblocking_collective", "wait for collective",
      "Wait for non-blocking collective: until the last rank starts it"},
     {"late_sender", "late sender", "Late sender: the message was sent later"},
     {"wrong_order", "wrong order", "Wrong order: an earlier message was received later"},
     {"late_receiver", "late receiver", "Late receiver: until the receive is posted"},
     {"fence", "wait at fence", "Wait at fence: window creation, fence or free"},
     {"late_post", "late post", "Late post: until the target exposes its window"},
     {"early_wait", "early wait", "Early wait: until the origin's last operation"},
     {"late_complete", "late complete", "Late complete: from the origin's last operation to MPI_Win_complete"},
     {"lock", "wait for lock", "Wait for lock: another rank holds the window"},
     {"init", "wait at init", "Wait in MPI_Init (before the run)"},
     {"finalize", "wait at finalize", "Wait in MPI_Finalize (after the run)"}}};

constexpr double kMostlyKnown = 0.95;

const Words* words_of(const std::string& pattern) {
  const auto found = std::ranges::find_if(kWords, [&](const Words& each) { return pattern == each.pattern; });
  return found == kWords.end() ? nullptr : &*found;
}

bool is_known(std::uint64_t resolved, const UnresolvedCounts& unknown) {
  const auto known = static_cast<double>(resolved);
  const auto all =
      known + static_cast<double>(unknown.folded + unknown.incomplete + unknown.beyond_memory + unknown.other);
  return known > 0 && known >= kMostlyKnown * all;
}

}  // namespace

std::string pattern_in_words(const std::string& pattern) {
  const Words* const words = words_of(pattern);
  return words == nullptr ? pattern : words->whole;
}

std::string short_pattern(const std::string& pattern) {
  const Words* const words = words_of(pattern);
  return words == nullptr ? pattern : words->brief;
}

bool collectives_are_known(const Application& a) {
  return is_known(a.waiting.resolved_calls, a.waiting.unresolved.collective_calls);
}

bool messages_are_known(const Application& a) {
  return is_known(2 * a.waiting.resolved_messages, a.waiting.unresolved.message_ends);
}

bool is_path_whole(const Application& a) {
  const UnresolvedWaiting& unknown = a.waiting.unresolved;
  return unknown.collective_calls == UnresolvedCounts{} && unknown.message_ends == UnresolvedCounts{};
}

std::uint32_t awaited_in_world(const Application& a, const LongestWait& wait) {
  if (wait.awaited_other != kNoRank) return wait.awaited_other;
  return wait.awaited == kNoRank ? kNoRank : a.world_rank(wait.awaited);
}

double path_seconds(const Application& a) {
  return a.waiting.critical_path_seconds + a.waiting.critical_path_elsewhere_seconds;
}

double seconds_of_calls(const Application& a, const WaitSite& site) {
  const auto found = std::ranges::find_if(a.call_sites, [&](const CallSite& each) {
    return each.function == site.function && each.module == site.module && each.offset == site.offset;
  });
  return found == a.call_sites.end() ? 0 : found->seconds;
}

}  // namespace ardoise::reports
