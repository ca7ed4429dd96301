#include "reports/findings/waiting_view.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <vector>

namespace ardoise::reports {

namespace {

struct Words {
  const char *pattern, *brief, *whole;
};
constexpr std::array<Words, 17> kWords{
    {{"wait_nxn", "wait at all-to-all", "Wait at all-to-all: until the last rank enters"},
     {"wait_barrier", "wait at barrier", "Wait at barrier: until the last rank enters"},
     {"barrier_completion", "barrier completion", "Barrier completion: after the first rank left"},
     {"late_broadcast", "late root", "Late root: in MPI_Bcast or MPI_Scatter"},
     {"early_reduce", "early root", "Early root: in MPI_Reduce or MPI_Gather"},
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

constexpr double kMostlyKnown = 0.95, kDominantShare = 0.5;

const Words* words_of(const std::string& pattern) {
  const auto found = std::ranges::find_if(kWords, [&](const Words& each) { return pattern == each.pattern; });
  return found == kWords.end() ? nullptr : &*found;
}

double extra_seconds_of(const Application& a, const std::vector<WaitEdge>& edges, std::uint32_t awaited,
                        double seconds) {
  double most = 0, all = 0;
  for (const WaitEdge& edge : edges) {
    if (edge.awaited != awaited) continue;
    most = std::max(most, edge.seconds);
    all += edge.seconds;
  }
  const double longer = all > 0 ? seconds * most / all : seconds;
  return a.wall_seconds > 0 ? std::min(longer, a.wall_seconds) : longer;
}

// Waiting caused by the program's ranks, and their waiting for other programs.
double waiting_for_ranks(const Application& a) {
  const auto& caused = a.waiting.per_rank.caused_seconds;
  return std::accumulate(caused.begin(), caused.end(), waiting_for_others(a));
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

bool has_unjudged_calls(const Application& a) {
  constexpr double kMuch = 0.05;
  const auto is_much = [](std::uint64_t resolved, const UnresolvedCounts& unknown) {
    const double others = static_cast<double>(unknown.other);
    return others > kMuch * (others + static_cast<double>(resolved));
  };
  return is_much(a.waiting.resolved_calls, a.waiting.unresolved.collective_calls) ||
         is_much(2 * a.waiting.resolved_messages, a.waiting.unresolved.message_ends);
}

bool is_path_whole(const Application& a) {
  const UnresolvedWaiting& unknown = a.waiting.unresolved;
  return unknown.collective_calls == UnresolvedCounts{} && unknown.message_ends == UnresolvedCounts{};
}

double extra_seconds(const Application& a, std::uint32_t awaited, double seconds) {
  return extra_seconds_of(a, a.waiting.edges, awaited, seconds);
}

double extra_seconds(const Application& a, const WaitedOther& awaited, double seconds) {
  return extra_seconds_of(a, a.waiting.edges_between, awaited.rank, seconds);
}

std::uint32_t awaited_in_world(const Application& a, const LongestWait& wait) {
  if (wait.awaited_other != kNoRank) return wait.awaited_other;
  return wait.awaited == kNoRank ? kNoRank : a.world_rank(wait.awaited);
}

double path_seconds(const Application& a) {
  return a.waiting.critical_path_seconds + a.waiting.critical_path_elsewhere_seconds;
}

double waiting_for_others(const Application& a) {
  return std::transform_reduce(a.waiting.edges_between.begin(), a.waiting.edges_between.end(), 0.0, std::plus{},
                               [](const WaitEdge& edge) { return edge.seconds; });
}

const WaitedOther* most_awaited_other(const Application& a) {
  if (a.waiting.others.empty()) return nullptr;
  const WaitedOther& most = a.waiting.others.front();
  return most.seconds >= kDominantShare * waiting_for_ranks(a) ? &most : nullptr;
}

double seconds_of_calls(const Application& a, const WaitSite& site) {
  const auto found = std::ranges::find_if(a.call_sites, [&](const CallSite& each) {
    return each.function == site.function && each.module == site.module && each.offset == site.offset;
  });
  return found == a.call_sites.end() ? 0 : found->seconds;
}

MessageWaiting message_waiting(const Application& a) {
  MessageWaiting waiting;
  for (const WaitSite& site : a.waiting.call_sites) {
    if (site.pattern != "late_sender" && site.pattern != "wrong_order" && site.pattern != "late_receiver") continue;
    waiting.seconds += site.waiting_seconds;
    if (site.pattern != "late_receiver") waiting.late_senders += site.waiting_seconds;
    if (waiting.most == nullptr || site.waiting_seconds > waiting.most->waiting_seconds) waiting.most = &site;
  }
  return waiting;
}

double waiting_in(const Application& a, const std::string& function) {
  double sum = 0;
  for (const WaitSite& site : a.waiting.call_sites) {
    if (site.function == function && site.pattern != "barrier_completion") sum += site.waiting_seconds;
  }
  return sum;
}

std::optional<double> measured_waiting(const Application& a, const std::string& function) {
  if (!collectives_are_known(a)) return {};
  return waiting_in(a, function);
}

std::optional<AwaitedRank> most_awaited(const Application& a) {
  const RankWaiting& ranks = a.waiting.per_rank;
  const auto& caused = ranks.caused_seconds;
  const auto& origins = ranks.origin_seconds.size() == caused.size() ? ranks.origin_seconds : caused;
  const double all = waiting_for_ranks(a);
  const auto most = std::ranges::max_element(origins);
  if (!(all > 0) || most == origins.end() || *most < kDominantShare * all) return {};
  const auto rank = static_cast<std::uint32_t>(most - origins.begin());
  // Ranks that wait for each other in a ring have no first one.
  if (is_late_in_turn(a, rank)) return {};
  if (const WaitCause* const cause = main_cause(a, rank); cause != nullptr && cause->kind == "mpi") return {};
  return AwaitedRank{rank, *most / all, std::min(*most, caused[rank]) / all};
}

bool is_late_in_turn(const Application& a, std::uint32_t rank) {
  constexpr double kMuchLonger = 1.5;
  const RankWaiting& ranks = a.waiting.per_rank;
  return rank < ranks.waiting_seconds.size() && rank < ranks.caused_seconds.size() &&
         ranks.caused_seconds[rank] < kMuchLonger * ranks.waiting_seconds[rank];
}

bool explains(const WaitCause& cause, double waited) {
  constexpr double kExplains = 0.25;
  return cause.seconds >= kExplains * waited && cause.seconds > cause.error;
}

const WaitCause* main_cause(const Application& a, std::uint32_t rank) {
  const auto cause = std::ranges::find(a.waiting.causes, rank, &WaitCause::rank);  // by seconds, descending
  if (cause == a.waiting.causes.end() || rank >= a.waiting.per_rank.caused_seconds.size()) return nullptr;
  return explains(*cause, a.waiting.per_rank.caused_seconds[rank]) ? &*cause : nullptr;
}

}  // namespace ardoise::reports
