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
  const char* verb;
};
constexpr std::array<Activity, 4> kActivities{{{&RankTime::computing, "computes for"},
                                               {&RankTime::io, "does file I/O for"},
                                               {&RankTime::waiting, "waits for a processor for"},
                                               {&RankTime::blocked, "is asleep or blocked for"}}};
constexpr double kMostlyDirect = 0.9;
constexpr double kExplains = 0.25;  // of the waiting of another rank for it, on average

// The activity outside MPI on which the rank spends more time than the others; "": it explains little of the waiting.
std::string extra_activity(const Application& a, std::uint32_t rank) {
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
  if (most->seconds == &RankTime::computing && !times[rank].has_kernel_times)
    return fmt::format(" It is outside MPI for {}, the others for {} on average.", human_seconds(times[rank].computing),
                       human_seconds(mean_of_others));
  return fmt::format(" Outside MPI it {} {}, the others {} on average.", most->verb,
                     human_seconds(times[rank].*most->seconds), human_seconds(mean_of_others));
}

std::string function_of(const Application& a, const WaitCause& cause) {
  return in_sentence(name_as_sampled(a.samples, cause.symbol, cause.source_file, cause.line));
}

bool is_work(const WaitCause* cause) {
  return cause != nullptr && (cause->kind == "computation" || cause->kind == "io");
}

// The rank's extra work, if it contains the cause.
std::optional<ExtraWork> work_behind(const Application& a, const WaitCause& cause) {
  const auto work = extra_work(a, cause.rank);
  const auto is_cause = [&](std::uint32_t function) { return a.samples.functions[function].symbol == cause.symbol; };
  return work && (is_cause(work->function) || is_cause(work->hottest)) ? work : std::nullopt;
}

// Prefers a function that only this rank calls to the function below it that takes the time.
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

// A clause on the cause. longer, error: seconds that the awaited rank spends more than the waiting ranks. function: for
// a cause that is work.
std::string cause_clause(const WaitCause& cause, const std::string& function, double longer, double error) {
  if (cause.kind == "mpi") return fmt::format(", which spends {} longer in MPI itself", human_seconds(longer));
  if (cause.kind == "other")
    return fmt::format(", which is asleep, blocked or without a processor for {} longer than the waiting ranks",
                       human_seconds(longer));
  return fmt::format(", which is still in {}, {} ± {} longer than the waiting ranks (sampled)", function,
                     human_seconds(longer), human_seconds(error));
}

std::string cause_clause(const Application& a, const WaitedOther& other) {
  const WaitCause& cause = other.cause;
  if (cause.kind.empty() || !explains(cause, other.seconds)) return "";
  return cause_clause(cause, is_work(&cause) ? function_of(a, cause) : "", extra_seconds(a, other, cause.seconds),
                      extra_seconds(a, other, cause.error));
}

// A sentence on the measured delay of the rank; "": not measured.
std::string delay_in_words(const Application& a, std::uint32_t rank) {
  const WaitCause* most = main_cause(a, rank);
  if (!is_work(most)) return "";
  if (work_behind(a, *most)) return extra_work_sentence(a, rank);
  return fmt::format(" Before that it spends {} ± {} more than the waiting ranks in {} (sampled).",
                     human_seconds(extra_seconds(a, rank, most->seconds)),
                     human_seconds(extra_seconds(a, rank, most->error)), function_of(a, *most));
}

}  // namespace

std::string awaited_rank_in_words(const Application& a) {
  if (const WaitedOther* const other = most_awaited_other(a))
    return fmt::format(" Most waiting in MPI is for rank {} of {}{}.", other->rank, in_sentence(other->program),
                       cause_clause(a, *other));
  const auto awaited = most_awaited(a);
  if (!awaited) return "";
  const std::string delay = delay_in_words(a, awaited->rank);
  const bool follows_chains = awaited->direct < kMostlyDirect * awaited->share;
  const std::uint32_t rank = a.world_rank(awaited->rank);
  const std::string how_much =
      follows_chains ? fmt::format(
                           "{} of all waiting in MPI is for rank {} itself, {} including waits for ranks that it "
                           "delayed (an estimate)",
                           human_share(awaited->direct), rank, human_share(awaited->share))
                     : fmt::format("{} of all waiting in MPI is for rank {}", human_share(awaited->share), rank);
  return fmt::format(" {}.{}{}", how_much, extra_activity(a, awaited->rank),
                     delay.empty() ? extra_work_sentence(a, awaited->rank) : delay);
}

namespace {

constexpr double kMostOfSite = 0.5;  // of the waiting at a call site: from here on the rank is named

// Waits of the program's ranks at any call site for the rank that is most awaited at this one.
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

// "Ranks 1–3 wait": the ranks that wait for the awaited one. The waiters of the site may include that rank itself.
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

std::string waiters_in_sentence(const Application& a, const WaitSite& site) {
  if (site.awaited_seconds >= kMostOfSite * site.waiting_seconds) {
    if (auto text = waiters_in_words(a, site); !text.empty()) return text;
  }
  if (site.waiters <= 1) return fmt::format("Rank {} waits", a.world_rank(site.first_waiter));
  if (site.last_waiter - site.first_waiter + 1 == site.waiters)
    return fmt::format("Ranks {}{}{} wait", a.world_rank(site.first_waiter), site.waiters == 2 ? " and " : "–",
                       a.world_rank(site.last_waiter));
  return fmt::format("{} ranks wait", with_separators(site.waiters));
}

std::string cause_clause(const Application& a, std::uint32_t rank) {
  const WaitCause* const cause = main_cause(a, rank);
  if (cause == nullptr) return "";
  return cause_clause(*cause, is_work(cause) ? function_behind(a, *cause) : "", extra_seconds(a, rank, cause->seconds),
                      extra_seconds(a, rank, cause->error));
}

// The longest waiting of a single rank for the awaited one: an upper bound of the gain.
double largest_gain(const Application& a, const WaitSite& site) {
  return std::min(longest_of(waits_for_awaited(a, site)), site.awaited_seconds);
}

const WaitedOther* other_of(const Application& a, const WaitSite& site) {
  const auto other = std::ranges::find(a.waiting.others, site.awaited_other, &WaitedOther::rank);
  return site.awaited_other == kNoRank || other == a.waiting.others.end() ? nullptr : &*other;
}

}  // namespace

std::string waiting_in_words(const Application& a, const WaitSite& site) {
  const double all = seconds_of_calls(a, site);
  std::string text =
      fmt::format("{} {}{} in {} called from {}", waiters_in_sentence(a, site), human_seconds(site.waiting_seconds),
                  all > site.waiting_seconds ? " of " + human_seconds(all) : "", in_sentence(site.function),
                  in_sentence(name_of(site)));
  const double share = site.waiting_seconds > 0 ? site.awaited_seconds / site.waiting_seconds : 0;
  const std::string how_much = share > 0.995 ? "" : human_share(share) + " of it ";
  if (const WaitedOther* const other = other_of(a, site); other != nullptr && share >= kMostOfSite)
    return fmt::format("{}, {}for rank {} of {}{}. Without this delay the run could be up to {} shorter.", text,
                       how_much, other->rank, in_sentence(other->program), cause_clause(a, *other),
                       human_seconds(largest_gain(a, site)));
  if (site.awaited == kNoRank || share < kMostOfSite || is_late_in_turn(a, site.awaited)) {
    const std::string awaited = awaited_rank_in_words(a);
    return text + (awaited.empty() ? "; no single rank causes most of it." : "." + awaited);
  }
  return fmt::format("{}, {}for rank {}{}. Without this delay the run could be up to {} shorter.{}", text, how_much,
                     a.world_rank(site.awaited), cause_clause(a, site.awaited), human_seconds(largest_gain(a, site)),
                     is_work(main_cause(a, site.awaited)) ? "" : awaited_rank_in_words(a));
}

}  // namespace ardoise::reports
