// See iteration_view.hpp.
#include "reports/findings/iteration_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "reports/findings/ending_view.hpp"
#include "reports/findings/findings.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kSlow = 1.5;          // times the median of those around
constexpr double kOfTheSlowest = 0.1;  // what is longer by less of that is no outlier beside it
constexpr double kAlso = 0.25;         // of what is longer: worth a word
constexpr double kMostOfIt = 0.5;      // of what is longer: then it is the reason
constexpr std::size_t kRanges = 4;     // that are named one by one
constexpr double kAsOften = 0.1;       // calls that differ by less are as many

// Mean of a list in some snapshots, for an iteration.
double mean_of(const Snapshots& s, const auto& sums, const std::vector<std::size_t>& chosen) {
  double sum = 0, iterations = 0;
  for (const std::size_t each : chosen) {
    sum += static_cast<double>(sums[each]);
    iterations += static_cast<double>(iterations_of(s, each));
  }
  return iterations > 0 ? sum / iterations : 0;
}

std::string ordinal(std::uint64_t n) {
  const char* const end = n % 100 / 10 == 1 ? "th"
                          : n % 10 == 1     ? "st"
                          : n % 10 == 2     ? "nd"
                          : n % 10 == 3     ? "rd"
                                            : "th";
  return fmt::format("{}{}", n, end);
}

// Distance of snapshots that follow each other at the same distance; 0: they do not.
std::size_t period(const std::vector<std::size_t>& chosen) {
  if (chosen.size() < 4) return 0;
  const std::size_t distance = chosen[1] - chosen[0];
  for (std::size_t i = 1; i < chosen.size(); ++i) {
    if (chosen[i] - chosen[i - 1] != distance) return 0;
  }
  return distance < 2 ? 0 : distance;
}

// Of the groups of ranks the one whose own time is longest beyond what it mostly is.
struct Growth {
  double these = 0, than = 0;  // outside of MPI and I/O, of an iteration
  std::string ranks;           // "rank 2 is"; "the ranks are": all alike
};
Growth greatest_growth(const Application& app, const std::vector<std::size_t>& these,
                       const std::vector<std::size_t>& than) {
  const Snapshots& s = app.snapshots;
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

std::string name_of_calls(const SnapshotCalls& calls) { return calls.function + " in " + in_sentence(name_of(calls)); }

}  // namespace

std::uint64_t iterations_of(const Snapshots& s, std::size_t snapshot) {
  return std::min(s.per_snapshot, s.iterations - snapshot * s.per_snapshot);
}

std::vector<double> of_an_iteration(const Snapshots& s, const std::vector<double>& sums) {
  std::vector<double> means;
  for (std::size_t i = 0; i < sums.size(); ++i) means.push_back(sums[i] / static_cast<double>(iterations_of(s, i)));
  return means;
}

std::vector<double> own_seconds(const Snapshots& s) {
  std::vector<double> own;
  for (std::size_t i = 0; i < s.seconds.size(); ++i)
    own.push_back(std::max(0.0, s.seconds[i] - s.mpi_seconds[i] - s.io_seconds[i]));
  return own;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, half);
  return *half;
}

std::string iterations_in_words(const Snapshots& s, const std::vector<std::size_t>& chosen) {
  const auto first_of = [&](std::size_t snapshot) { return snapshot * s.per_snapshot + 1; };
  const auto last_of = [&](std::size_t snapshot) { return snapshot * s.per_snapshot + iterations_of(s, snapshot); };
  if (const std::size_t distance = period(chosen); distance != 0 && s.per_snapshot == 1)
    return fmt::format("every {} iteration ({}, {} … {})", ordinal(distance), first_of(chosen[0]), first_of(chosen[1]),
                       first_of(chosen.back()));
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < chosen.size();) {
    std::size_t end = i + 1;
    while (end < chosen.size() && chosen[end] == chosen[end - 1] + 1) ++end;
    const std::uint64_t first = first_of(chosen[i]), last = last_of(chosen[end - 1]);
    ranges.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}–{}", first, last));
    i = end;
  }
  if (ranges.size() == 1 && ranges[0].find("–") == std::string::npos) return "iteration " + ranges[0];
  if (ranges.size() > kRanges) {
    return fmt::format("iterations {}, {} … {} ({} ranges of them)", ranges[0], ranges[1], ranges.back(),
                       ranges.size());
  }
  const std::string last = ranges.back();
  ranges.pop_back();
  return ranges.empty() ? "iterations " + last : fmt::format("iterations {} and {}", fmt::join(ranges, ", "), last);
}

bool are_scattered(const std::vector<std::size_t>& chosen) {
  std::size_t ranges = chosen.empty() ? 0 : 1;
  for (std::size_t i = 1; i < chosen.size(); ++i) ranges += chosen[i] == chosen[i - 1] + 1 ? 0 : 1;
  return ranges > kRanges && period(chosen) == 0;
}

std::vector<std::size_t> slow_snapshots(const Snapshots& s) {
  const auto seconds = of_an_iteration(s, s.seconds);
  const std::size_t count = seconds.size(), reach = std::max<std::size_t>(10, count / 20);
  std::vector<double> longer(count, 0.0);  // than most of those around it
  for (std::size_t i = 0; i < count; ++i) {
    const auto from = static_cast<std::ptrdiff_t>(i - std::min(i, reach)),
               to = static_cast<std::ptrdiff_t>(std::min(count, i + reach + 1));
    const double usual = median({seconds.begin() + from, seconds.begin() + to});
    if (seconds[i] > kSlow * usual) longer[i] = seconds[i] - usual;
  }
  const double most = count == 0 ? 0 : std::ranges::max(longer);
  std::vector<std::size_t> slow;
  for (std::size_t i = 0; i < count; ++i) {
    if (longer[i] > 0 && longer[i] >= kOfTheSlowest * most) slow.push_back(i);
  }
  if (slow.size() * 4 > count) slow.clear();
  return slow;
}

std::string what_is_longer(const Application& app, const std::vector<std::size_t>& these,
                           const std::vector<std::size_t>& than) {
  const Snapshots& s = app.snapshots;
  const double longer = mean_of(s, s.seconds, these) - mean_of(s, s.seconds, than);
  if (!(longer > 0)) return "";  // few of them are, and others shorter
  const SnapshotCalls* most = nullptr;
  double calls_longer = 0;
  for (const SnapshotCalls& each : s.calls) {
    const double of_each = (mean_of(s, each.seconds, these) - mean_of(s, each.seconds, than)) / s.ranks;
    if (of_each > calls_longer) most = &each;
    calls_longer = std::max(calls_longer, of_each);
  }
  const Growth own = greatest_growth(app, these, than);
  if (own.these - own.than >= kMostOfIt * longer) {
    std::string text = fmt::format("{} outside of MPI and I/O for {} instead of {}", own.ranks,
                                   human_seconds(own.these), human_seconds(own.than));
    if (most != nullptr && calls_longer >= kAlso * longer && app.ranks > 1)
      text += fmt::format(", and {} is longer by {}", name_of_calls(*most), human_seconds(calls_longer));
    return text;
  }
  if (most == nullptr || calls_longer < kMostOfIt * longer) return "";
  const double calls = mean_of(s, most->calls, these) / s.ranks, usual = mean_of(s, most->calls, than) / s.ranks;
  if (calls > usual * (1 + kAsOften)) {
    return fmt::format("{} is called {:.3g} times instead of {:.3g}, and takes {} instead of {}", name_of_calls(*most),
                       calls, usual, human_seconds(mean_of(s, most->seconds, these) / s.ranks),
                       human_seconds(mean_of(s, most->seconds, than) / s.ranks));
  }
  const auto a_call = [&](const std::vector<std::size_t>& chosen) {
    const double number = mean_of(s, most->calls, chosen);
    return number > 0 ? mean_of(s, most->seconds, chosen) / number : 0;
  };
  return fmt::format("{} takes {} a call instead of {}", name_of_calls(*most), human_seconds(a_call(these)),
                     human_seconds(a_call(than)));
}

}  // namespace ardoise::reports
