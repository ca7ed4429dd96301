#include "reports/findings/series_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include "reports/findings/ending_view.hpp"
#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/joined.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kSlow = 1.5;          // times the median of the snapshots around
constexpr double kOfTheSlowest = 0.1;  // of the slowest one's excess: a smaller excess is no outlier
constexpr double kMentioned = 0.25;    // of the difference: worth mentioning
constexpr double kMainReason = 0.5;    // of the difference: the main reason
constexpr std::size_t kFewestPeriods = 4;
constexpr double kLeastComplete = 0.9, kLeastCovered = 0.5;
constexpr std::size_t kRanges = 4;   // named one by one
constexpr double kEqualCalls = 0.1;  // numbers of calls that differ by less are equal

// Mean of a list in some snapshots, for a round.
double mean_of(const SnapshotSeries& s, const auto& sums, const std::vector<std::size_t>& chosen) {
  double sum = 0, rounds = 0;
  for (const std::size_t each : chosen) {
    sum += static_cast<double>(sums[each]);
    rounds += static_cast<double>(s.rounds[each]);
  }
  return rounds > 0 ? sum / rounds : 0;
}

std::string ordinal(std::uint64_t n) {
  const char* const end = n % 100 / 10 == 1 ? "th"
                          : n % 10 == 1     ? "st"
                          : n % 10 == 2     ? "nd"
                          : n % 10 == 3     ? "rd"
                                            : "th";
  return fmt::format("{}{}", n, end);
}

// Snapshots at a constant distance, without many gaps, that are most of `chosen`.
struct Period {
  std::size_t distance = 0;  // 0: none
  std::size_t first = 0, last = 0, others = 0;
};
Period period(const std::vector<std::size_t>& chosen) {
  std::set<std::size_t> distances;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (std::size_t next = i + 1; next < std::min(i + 4, chosen.size()); ++next)
      distances.insert(chosen[next] - chosen[i]);
  }
  Period best;
  std::size_t most = kFewestPeriods - 1;
  for (const std::size_t distance : distances) {
    if (distance < 2) continue;
    for (std::size_t phase = 0; phase < std::min<std::size_t>(3, chosen.size()); ++phase) {
      std::vector<std::size_t> members;
      std::ranges::copy_if(chosen, std::back_inserter(members),
                           [&](std::size_t each) { return each % distance == chosen[phase] % distance; });
      const std::size_t possible = (members.back() - members.front()) / distance + 1;
      if (members.size() <= most ||
          static_cast<double>(members.size()) < kLeastComplete * static_cast<double>(possible) ||
          static_cast<double>(members.size()) < kLeastCovered * static_cast<double>(chosen.size()))
        continue;
      most = members.size();
      best = {distance, members.front(), members.back(), chosen.size() - members.size()};
    }
  }
  return best;
}

// The group of ranks whose time outside MPI and I/O grew most.
struct Growth {
  double these = 0, than = 0;  // of a round
  std::string ranks;           // "rank 2 is"; "the ranks are": all grew alike
};
Growth greatest_growth(const Application& app, const SnapshotSeries& s, const std::vector<std::size_t>& these,
                       const std::vector<std::size_t>& than) {
  Growth most;
  double sum = 0;
  std::uint32_t at = 0;
  for (std::uint32_t group = 0; group < s.groups; ++group) {
    const auto begin = s.own_seconds.begin() + static_cast<std::ptrdiff_t>(group * s.seconds.size());
    const std::vector<double> own(begin, begin + static_cast<std::ptrdiff_t>(s.seconds.size()));
    const double in_these = mean_of(s, own, these), in_others = mean_of(s, own, than);
    sum += in_these - in_others;
    if (group != 0 && in_these - in_others <= most.these - most.than) continue;
    most = {in_these, in_others, ""};
    at = group;
  }
  const std::uint32_t first = at * s.ranks_per_group, last = std::min(first + s.ranks_per_group, app.ranks) - 1;
  std::vector<std::uint32_t> ranks(last - first + 1);
  std::iota(ranks.begin(), ranks.end(), first);
  if (most.these - most.than < 1.5 * sum / std::max(s.groups, 1u)) {
    most.ranks = app.ranks == 1 ? "the rank is" : "the ranks are";
  } else {
    most.ranks = ranks_in_words(app, ranks) + (first == last ? " is" : " are");
  }
  return most;
}

// The sampled function that grew most, if that is most of `longer`; "": none.
std::string function_that_grew(const SampleProfile& samples, const SnapshotSeries& s,
                               const std::vector<std::size_t>& these, const std::vector<std::size_t>& than,
                               double longer) {
  const SnapshotFunction* most = nullptr;
  double growth = 0;
  for (const SnapshotFunction& each : s.functions) {
    const double of_each = mean_of(s, each.seconds, these) - mean_of(s, each.seconds, than);
    if (of_each > growth) most = &each;
    growth = std::max(growth, of_each);
  }
  if (most == nullptr || growth < kMainReason * longer) return "";
  return in_sentence(name_as_sampled(samples, most->symbol, most->source_file, most->line));
}

// The additional time of the calls is mostly waiting.
bool waits_longer(const SnapshotSeries& s, const SnapshotCalls& calls, const std::vector<std::size_t>& these,
                  const std::vector<std::size_t>& than) {
  const double longer = mean_of(s, calls.seconds, these) - mean_of(s, calls.seconds, than),
               waiting = mean_of(s, calls.waiting_seconds, these) - mean_of(s, calls.waiting_seconds, than);
  return longer > 0 && waiting >= kMainReason * longer;
}

std::string name_of_calls(const SnapshotCalls& calls) { return calls.function + " in " + in_sentence(name_of(calls)); }

}  // namespace

std::uint64_t rounds_in(const SnapshotSeries& s) {
  return std::accumulate(s.rounds.begin(), s.rounds.end(), std::uint64_t{0});
}

std::uint64_t most_rounds(const SnapshotSeries& s) { return s.rounds.empty() ? 0 : std::ranges::max(s.rounds); }

SnapshotRange comparable(const SnapshotSeries& s) {
  const bool is_cut = s.trigger == "snapshot" || s.trigger == "pcontrol" || s.trigger == "condition";
  return is_cut && s.seconds.size() > 3 ? SnapshotRange{1, s.seconds.size() - 1} : SnapshotRange{0, s.seconds.size()};
}

std::string round_word(const SnapshotSeries& s, bool is_one) {
  if (s.trigger == "iteration")
    return fmt::format("{}{}iteration{}", s.name, s.name.empty() ? "" : " ", is_one ? "" : "s");
  if (s.trigger == "timer") return is_one ? "interval" : "intervals";
  if (s.trigger == "pcontrol") return is_one ? "part" : "parts";
  if (s.trigger == "condition") return fmt::format("snapshot{} when {}, no.", is_one ? "" : "s", s.name);
  return fmt::format("{}{} {}", s.trigger, is_one ? "" : "s", s.name);
}

std::int64_t last_number(const SnapshotSeries& s, std::size_t snapshot) {
  if (!s.numbers.empty()) return s.numbers[snapshot];
  return static_cast<std::int64_t>(std::accumulate(
      s.rounds.begin(), s.rounds.begin() + static_cast<std::ptrdiff_t>(snapshot + 1), std::uint64_t{0}));
}

std::int64_t first_number(const SnapshotSeries& s, std::size_t snapshot) {
  if (s.rounds[snapshot] == 1) return last_number(s, snapshot);
  // The program's numbers may have any value.
  return snapshot == 0 ? 1 : static_cast<std::int64_t>(static_cast<std::uint64_t>(last_number(s, snapshot - 1)) + 1);
}

std::vector<double> round_means(const SnapshotSeries& s, const std::vector<double>& sums) {
  std::vector<double> means;
  for (std::size_t i = 0; i < sums.size(); ++i) means.push_back(sums[i] / static_cast<double>(s.rounds[i]));
  return means;
}

double round_mean(const SnapshotSeries& s, const std::vector<double>& sums, const std::vector<std::size_t>& chosen) {
  return mean_of(s, sums, chosen);
}

std::vector<double> rank_means(const SnapshotSeries& s, const std::vector<double>& sums) {
  std::vector<double> mean = round_means(s, sums);
  for (double& each : mean) each /= std::max(s.ranks, 1u);
  return mean;
}

std::vector<double> own_seconds(const SnapshotSeries& s) {
  std::vector<double> own;
  for (std::size_t i = 0; i < s.seconds.size(); ++i)
    own.push_back(std::max(0.0, s.seconds[i] - s.mpi_seconds[i] - s.io_seconds[i]));
  return own;
}

double waiting_share(const SnapshotSeries& s) {
  const auto sum = [](const std::vector<double>& list) { return std::accumulate(list.begin(), list.end(), 0.0); };
  return sum(s.waiting_seconds) / std::max(sum(s.seconds), 1e-12);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, half);
  return *half;
}

std::string rounds_in_words(const SnapshotSeries& s, const std::vector<std::size_t>& chosen) {
  if (const Period every = period(chosen); every.distance != 0 && most_rounds(s) == 1)
    return fmt::format("every {} {} ({}, {} … {}){}", ordinal(every.distance), round_word(s, true),
                       first_number(s, every.first), first_number(s, every.first + every.distance),
                       first_number(s, every.last), every.others == 0 ? "" : " and " + counted(every.others, "other"));
  std::vector<std::string> ranges;
  bool is_one = true;
  for (std::size_t i = 0; i < chosen.size();) {
    std::size_t end = i + 1;
    while (end < chosen.size() && chosen[end] == chosen[end - 1] + 1) ++end;
    const std::int64_t first = first_number(s, chosen[i]), last = last_number(s, chosen[end - 1]);
    is_one = is_one && ranges.empty() && first == last;
    ranges.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}–{}", first, last));
    i = end;
  }
  const std::string word = round_word(s, is_one);
  if (ranges.size() > kRanges)
    return fmt::format("{} {}, {} … {} ({} ranges)", word, ranges[0], ranges[1], ranges.back(), ranges.size());
  const std::string last = ranges.back();
  ranges.pop_back();
  return ranges.empty() ? fmt::format("{} {}", word, last)
                        : fmt::format("{} {} and {}", word, joined(ranges, ", "), last);
}

std::vector<std::size_t> slow_snapshots(const SnapshotSeries& s) {
  const auto seconds = round_means(s, s.seconds);
  const auto [begin, end] = comparable(s);
  const std::size_t count = end - begin, reach = std::max<std::size_t>(10, count / 20);
  std::vector<double> longer(seconds.size(), 0.0);  // excess over the median of the snapshots around
  for (std::size_t i = begin; i < end; ++i) {
    const auto from = static_cast<std::ptrdiff_t>(std::max(begin, i - std::min(i, reach))),
               to = static_cast<std::ptrdiff_t>(std::min(end, i + reach + 1));
    const double usual = median({seconds.begin() + from, seconds.begin() + to});
    if (seconds[i] > kSlow * usual) longer[i] = seconds[i] - usual;
  }
  const double most = longer.empty() ? 0 : std::ranges::max(longer);
  std::vector<std::size_t> slow;
  for (std::size_t i = begin; i < end; ++i) {
    if (longer[i] > 0 && longer[i] >= kOfTheSlowest * most) slow.push_back(i);
  }
  if (slow.size() * 4 > count) slow.clear();
  return slow;
}

std::string main_difference(const Application& app, const SnapshotSeries& s, const std::vector<std::size_t>& these,
                            const std::vector<std::size_t>& than) {
  const double longer = mean_of(s, s.seconds, these) - mean_of(s, s.seconds, than);
  if (!(longer > 0)) return "";
  const SnapshotCalls* most = nullptr;
  double calls_longer = 0;
  for (const SnapshotCalls& each : s.calls) {
    if (each.function.empty()) continue;  // the row of all other calls
    const double of_each = (mean_of(s, each.seconds, these) - mean_of(s, each.seconds, than)) / s.ranks;
    if (of_each > calls_longer) most = &each;
    calls_longer = std::max(calls_longer, of_each);
  }
  const Growth own = greatest_growth(app, s, these, than);
  if (own.these - own.than >= kMainReason * longer) {
    std::string text = fmt::format("{} outside MPI and I/O for {} instead of {}", own.ranks, human_seconds(own.these),
                                   human_seconds(own.than));
    if (const std::string where = function_that_grew(app.samples, s, these, than, own.these - own.than); !where.empty())
      text += fmt::format(", most of the increase in {}", where);
    if (most != nullptr && calls_longer >= kMentioned * longer && app.ranks > 1)
      text += fmt::format(", and {} is longer by {}{}", name_of_calls(*most), human_seconds(calls_longer),
                          waits_longer(s, *most, these, than) ? ", mostly waiting" : "");
    return text;
  }
  if (most == nullptr || calls_longer < kMainReason * longer) return "";
  const auto of_which = [&](double waiting) {
    return waits_longer(s, *most, these, than) ? fmt::format(", of which {} waiting", human_seconds(waiting)) : "";
  };
  const double calls = mean_of(s, most->calls, these) / s.ranks, usual = mean_of(s, most->calls, than) / s.ranks;
  if (calls > usual * (1 + kEqualCalls)) {
    return fmt::format("{} is called {:.3g} times instead of {:.3g}, and takes {} instead of {}{}",
                       name_of_calls(*most), calls, usual, human_seconds(mean_of(s, most->seconds, these) / s.ranks),
                       human_seconds(mean_of(s, most->seconds, than) / s.ranks),
                       of_which(mean_of(s, most->waiting_seconds, these) / s.ranks));
  }
  const auto a_call = [&](const std::vector<double>& sums, const std::vector<std::size_t>& chosen) {
    const double number = mean_of(s, most->calls, chosen);
    return number > 0 ? mean_of(s, sums, chosen) / number : 0;
  };
  return fmt::format("{} takes {} a call instead of {}{}", name_of_calls(*most),
                     human_seconds(a_call(most->seconds, these)), human_seconds(a_call(most->seconds, than)),
                     of_which(a_call(most->waiting_seconds, these)));
}

}  // namespace ardoise::reports
