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

}  // namespace

std::string awaited_rank_in_words(const Application& a) {
  const auto awaited = most_awaited(a);
  if (!awaited) return "";
  return fmt::format(" Of all waiting in MPI {} is for rank {}.{}{}", human_share(awaited->share),
                     a.world_rank(awaited->rank), where_its_time_goes(a, awaited->rank),
                     extra_work_sentence(a, awaited->rank));
}

}  // namespace ardoise::reports
