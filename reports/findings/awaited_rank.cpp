// See awaited_rank.hpp.
#include "reports/findings/awaited_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/findings/efficiency.hpp"
#include "reports/findings/extra_work.hpp"
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
constexpr double kExplains = 0.25;  // of what another rank waits for it, on the average

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
  return fmt::format(" Outside MPI it {} {}, the others {} on the average.", most->it,
                     human_seconds(times[rank].*most->seconds), human_seconds(mean_of_others));
}

std::string function_of(const WaitCause& cause) {
  CallSite place;
  place.symbol = cause.symbol;
  place.source_file = cause.source_file;
  place.line = cause.line;
  return in_sentence(name_of(place));
}

// What made it late, where that is measured; "" where it is not.
std::string what_made_it_late(const Application& a, std::uint32_t rank) {
  const WaitCause* most = main_cause(a, rank);
  if (most == nullptr || (most->kind != "computation" && most->kind != "io")) return "";
  // What only this rank calls says more than what the time goes into beneath it.
  const auto is_cause = [&](std::uint32_t function) { return a.samples.functions[function].symbol == most->symbol; };
  if (const auto work = extra_work(a, rank); work && (is_cause(work->function) || is_cause(work->hottest)))
    return extra_work_sentence(a, rank);
  return fmt::format(" Before it comes it spends {} ± {} more than those that wait in {} (sampled).",
                     human_seconds(most->seconds), human_seconds(most->error), function_of(*most));
}

}  // namespace

std::string awaited_rank_in_words(const Application& a) {
  const auto awaited = most_awaited(a);
  if (!awaited) return "";
  const std::string made_late = what_made_it_late(a, awaited->rank);
  const bool follows_chains = awaited->direct < kOfItself * awaited->share;
  return fmt::format(" Of all waiting in MPI {} {} rank {}{}.{}{}", human_share(awaited->share),
                     follows_chains ? "goes back to" : "is for", a.world_rank(awaited->rank),
                     follows_chains ? " (an estimate): ranks that come late wait for it themselves" : "",
                     where_its_time_goes(a, awaited->rank),
                     made_late.empty() ? extra_work_sentence(a, awaited->rank) : made_late);
}

}  // namespace ardoise::reports
