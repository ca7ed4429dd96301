// See awaited_rank.hpp.
#include "reports/findings/awaited_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "reports/findings/efficiency.hpp"
#include "reports/findings/ending_view.hpp"
#include "reports/findings/extra_work.hpp"
#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/waiting_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

struct Activity {
  double RankTime::*seconds;
  const char* it;
};
constexpr std::array<Activity, 4> kActivities{{{&RankTime::computing, "computes for"},
                                               {&RankTime::io, "does file I/O for"},
                                               {&RankTime::waiting, "waits for a processor for"},
                                               {&RankTime::blocked, "is asleep or blocked for"}}};
constexpr double kOfItself = 0.9;
constexpr double kExplains = 0.25;  // of what another rank waits for it, on average

// What the rank spends more time with outside MPI than the others do; "" where that explains little of the waiting.
std::string where_its_time_goes(const Application& a, std::uint32_t rank) {
  const auto times = times_of_ranks(a);
  if (times.size() < 2 || rank >= times.size()) return "";
  const auto others = static_cast<double>(times.size() - 1);
  const Activity* most = nullptr;
  double more = 0, mean_of_others = 0;
  for (const Activity& kind : kActivities) {
    double mean = 0;
    for (std::size_t r = 0; r < times.size(); ++r) mean += r == rank ? 0 : times[r].*kind.seconds / others;
    const double difference = times[rank].*kind.seconds - mean;
    if (difference <= more) continue;
    most = &kind;
    more = difference;
    mean_of_others = mean;
  }
  if (most == nullptr || more < kExplains * a.waiting.per_rank.caused_seconds[rank] / others) return "";
  if (most->seconds == &RankTime::computing && !times[rank].kernel_told)
    return fmt::format(" It is outside MPI for {}, the others for {} on average.", human_seconds(times[rank].computing),
                       human_seconds(mean_of_others));
  return fmt::format(" Outside MPI it {} {}, the others {} on average.", most->it,
                     human_seconds(times[rank].*most->seconds), human_seconds(mean_of_others));
}

std::string function_of(const Application& a, const WaitCause& cause) {
  return in_sentence(name_as_sampled(a.samples, cause.symbol, cause.source_file, cause.line));
}

bool is_work(const WaitCause* cause) {
  return cause != nullptr && (cause->kind == "computation" || cause->kind == "io");
}

// What the rank does more than the others, where that is the cause, or what the cause is called from.
std::optional<ExtraWork> work_behind(const Application& a, const WaitCause& cause) {
  const auto work = extra_work(a, cause.rank);
  const auto is_cause = [&](std::uint32_t function) { return a.samples.functions[function].symbol == cause.symbol; };
  return work && (is_cause(work->function) || is_cause(work->hottest)) ? work : std::nullopt;
}

// What only this rank calls says more than what the time goes into beneath it.
std::string function_behind(const Application& a, const WaitCause& cause) {
  WaitCause named = cause;
  if (const auto work = work_behind(a, cause)) {
    const SampledFunction& function = a.samples.functions[work->function];
    if (function.symbol != cause.symbol) {
      named.symbol = function.symbol;
      named.source_file = function.source_file;
      named.line = function.line;
    }
  }
  return function_of(a, named);
}

// Names the cause. longer, error: seconds that the awaited rank takes longer than the waiting ranks. function: of a
// cause that is work.
std::string instead_of_coming(const WaitCause& cause, const std::string& function, double longer, double error) {
  if (cause.kind == "mpi") return fmt::format(", which spends {} longer in MPI itself", human_seconds(longer));
  if (cause.kind == "other")
    return fmt::format(", which is asleep, blocked or without a processor for {} longer than the waiting ranks",
                       human_seconds(longer));
  return fmt::format(", which is still in {}, {} ± {} longer than the waiting ranks (sampled)", function,
                     human_seconds(longer), human_seconds(error));
}

std::string instead_of_coming(const Application& a, const WaitedOther& other) {
  const WaitCause& cause = other.cause;
  if (cause.kind.empty() || !explains(cause, other.seconds)) return "";
  return instead_of_coming(cause, is_work(&cause) ? function_of(a, cause) : "",
                           longer_than_they(a, other, cause.seconds), longer_than_they(a, other, cause.error));
}

// What made it late, where that is measured; "" where it is not.
std::string what_made_it_late(const Application& a, std::uint32_t rank) {
  const WaitCause* most = main_cause(a, rank);
  if (!is_work(most)) return "";
  if (work_behind(a, *most)) return extra_work_sentence(a, rank);
  return fmt::format(" Before that it spends {} ± {} more than the waiting ranks in {} (sampled).",
                     human_seconds(longer_than_they(a, rank, most->seconds)),
                     human_seconds(longer_than_they(a, rank, most->error)), function_of(a, *most));
}

}  // namespace

std::string awaited_rank_in_words(const Application& a) {
  if (const WaitedOther* const other = most_awaited_other(a))
    return fmt::format(" Most of all waiting in MPI is for rank {} of {}{}.", other->rank, in_sentence(other->program),
                       instead_of_coming(a, *other));
  const auto awaited = most_awaited(a);
  if (!awaited) return "";
  const std::string made_late = what_made_it_late(a, awaited->rank);
  const bool follows_chains = awaited->direct < kOfItself * awaited->share;
  const std::uint32_t rank = a.world_rank(awaited->rank);
  const std::string how_much =
      follows_chains ? fmt::format(
                           "{} of all waiting in MPI is for rank {} itself, {} with waits for ranks that it made "
                           "late (an estimate)",
                           human_share(awaited->direct), rank, human_share(awaited->share))
                     : fmt::format("{} of all waiting in MPI is for rank {}", human_share(awaited->share), rank);
  return fmt::format(" {}.{}{}", how_much, where_its_time_goes(a, awaited->rank),
                     made_late.empty() ? extra_work_sentence(a, awaited->rank) : made_late);
}

namespace {

constexpr double kMostOfAPlace = 0.5;  // of the waiting at a place, so that the rank is named

// All waits of the program's ranks, at any place, for the rank that is awaited at this one.
std::vector<WaitEdge> waits_for_awaited(const Application& a, const WaitSite& site) {
  std::vector<WaitEdge> waits;
  for (const WaitEdge& edge : a.waiting.edges)
    if (site.awaited != kNoRank && edge.awaited == site.awaited) waits.push_back(edge);
  for (const WaitEdge& edge : a.waiting.edges_between)
    if (site.awaited_other != kNoRank && edge.awaited == site.awaited_other)
      waits.push_back({edge.waiter - a.first_rank, kNoRank, edge.seconds});
  return waits;
}

double longest_of(const std::vector<WaitEdge>& waits) {
  const auto most = std::ranges::max_element(waits, {}, &WaitEdge::seconds);
  return most == waits.end() ? 0 : most->seconds;
}

// Those that wait for the awaited rank of the place, of all its waiters, which may be the rank itself for a moment.
std::string waiters_in_words(const Application& a, const WaitSite& site) {
  constexpr double kLeast = 0.01;  // of the longest
  const auto waits = waits_for_awaited(a, site);
  const double most = longest_of(waits);
  std::vector<std::uint32_t> ranks;
  for (const WaitEdge& edge : waits)
    if (edge.seconds > kLeast * most) ranks.push_back(edge.waiter);
  if (ranks.empty() || ranks.size() > site.waiters) return "";
  std::string text = ranks_in_words(a, ranks) + (ranks.size() == 1 ? " waits" : " wait");
  text[0] = 'R';
  return text;
}

std::string who_waits(const Application& a, const WaitSite& site) {
  if (site.awaited_seconds >= kMostOfAPlace * site.waiting_seconds) {
    if (auto text = waiters_in_words(a, site); !text.empty()) return text;
  }
  if (site.waiters <= 1) return fmt::format("Rank {} waits", a.world_rank(site.first_waiter));
  if (site.last_waiter - site.first_waiter + 1 == site.waiters)
    return fmt::format("Ranks {}{}{} wait", a.world_rank(site.first_waiter), site.waiters == 2 ? " and " : "–",
                       a.world_rank(site.last_waiter));
  return fmt::format("{} ranks wait", with_separators(site.waiters));
}

std::string instead_of_coming(const Application& a, std::uint32_t rank) {
  const WaitCause* const cause = main_cause(a, rank);
  if (cause == nullptr) return "";
  return instead_of_coming(*cause, is_work(cause) ? function_behind(a, *cause) : "",
                           longer_than_they(a, rank, cause->seconds), longer_than_they(a, rank, cause->error));
}

// What a single rank waits for it at most: more can't be gained.
double most_to_gain(const Application& a, const WaitSite& site) {
  return std::min(longest_of(waits_for_awaited(a, site)), site.awaited_seconds);
}

const WaitedOther* other_of(const Application& a, const WaitSite& site) {
  const auto other = std::ranges::find(a.waiting.others, site.awaited_other, &WaitedOther::rank);
  return site.awaited_other == kNoRank || other == a.waiting.others.end() ? nullptr : &*other;
}

}  // namespace

std::string waiting_in_words(const Application& a, const WaitSite& site) {
  const double all = seconds_of_calls(a, site);
  std::string text = fmt::format("{} {}{} in {} of {}", who_waits(a, site), human_seconds(site.waiting_seconds),
                                 all > site.waiting_seconds ? " of " + human_seconds(all) : "",
                                 in_sentence(site.function), in_sentence(name_of(site)));
  const double share = site.waiting_seconds > 0 ? site.awaited_seconds / site.waiting_seconds : 0;
  const std::string how_much = share > 0.995 ? "" : human_share(share) + " of it ";
  if (const WaitedOther* const other = other_of(a, site); other != nullptr && share >= kMostOfAPlace)
    return fmt::format("{}, {}for rank {} of {}{}. Without that the run could end up to {} sooner.", text, how_much,
                       other->rank, in_sentence(other->program), instead_of_coming(a, *other),
                       human_seconds(most_to_gain(a, site)));
  if (site.awaited == kNoRank || share < kMostOfAPlace || is_late_in_turn(a, site.awaited)) {
    const std::string awaited = awaited_rank_in_words(a);
    return text + (awaited.empty() ? ", most of it for no single rank." : "." + awaited);
  }
  return fmt::format("{}, {}for rank {}{}. Without that the run could end up to {} sooner.{}", text, how_much,
                     a.world_rank(site.awaited), instead_of_coming(a, site.awaited),
                     human_seconds(most_to_gain(a, site)),
                     is_work(main_cause(a, site.awaited)) ? "" : awaited_rank_in_words(a));
}

}  // namespace ardoise::reports
