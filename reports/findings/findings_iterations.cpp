// Changes over the rounds of a series of snapshots: iterations of the main loop, the program's own marks. Notes: what
// they cost is in the losses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "reports/findings/findings.hpp"
#include "reports/findings/round_noise.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr std::size_t kFewestSnapshots = 10;  // shorter series are not judged
constexpr double kLeastShareOfRun = 0.02;     // cost of a finding, as a share of the run
constexpr double kLeastOfRun = 0.2;           // length of a series, as a share of the run
constexpr double kTrend = 1.25;               // ratio of the last fifth to the first
constexpr double kStep = 1.25;                // ratio of the iterations after a change to those before
constexpr double kOnItsSide = 0.85;           // share of the iterations that lie on their side of the change
constexpr double kOfTheStep = 0.6;            // share of the change that happens next to it
constexpr double kFarOff = 5;                 // times the median: outliers are clamped to this
constexpr double kOfTheGrowth = 0.25;         // CPU time and I/O: less of it is the machine's
constexpr double kMoreBytes = 1.25;           // of a round that is longer for its messages
constexpr double kOfTheSeries = 0.5;       // in several slow rounds: these are the work, the others are not the usual
constexpr double kCrowded = 0.1;           // waiting for a processor ÷ computing, or asleep
constexpr double kOutsideOfTheLoop = 0.1;  // of the run

std::string as_factor(double factor) {
  return factor < 100 ? fmt::format("{:.1f}", factor) : human_count(std::round(factor));
}

std::vector<std::size_t> all_but(SnapshotRange range, const std::vector<std::size_t>& these) {
  std::vector<std::size_t> others;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (!std::ranges::binary_search(these, i)) others.push_back(i);
  }
  return others;
}

// On a crowded machine: rounds take longer without more CPU time, I/O or bytes.
bool is_of_the_machine(const Facts& facts, const SnapshotSeries& s, const std::vector<std::size_t>& these,
                       const std::vector<std::size_t>& than) {
  const Efficiency& e = facts.efficiency;
  const bool is_crowded = e.waiting_share > kCrowded * (e.computing_share + e.blocked_share);
  if (!is_crowded || s.functions.empty() || s.ranks == 0) return false;
  std::vector<double> bytes(s.seconds.size(), 0.0), work = s.io_seconds;
  for (const SnapshotCalls& each : s.calls) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] += static_cast<double>(each.bytes[i]);
  }
  for (const SnapshotFunction& each : s.functions) {
    for (std::size_t i = 0; i < work.size(); ++i) work[i] += each.seconds[i] / s.ranks;
  }
  const double longer = round_mean(s, s.seconds, these) - round_mean(s, s.seconds, than);
  return round_mean(s, work, these) - round_mean(s, work, than) < kOfTheGrowth * longer &&
         round_mean(s, bytes, these) < kMoreBytes * round_mean(s, bytes, than);
}

void find_slow_rounds(const Facts& facts, const SnapshotSeries& s, std::vector<Finding>& out) {
  const auto slow = slow_snapshots(s);
  if (slow.empty()) return;
  const auto usual = all_but(comparable(s), slow);
  const double slow_mean = round_mean(s, s.seconds, slow), typical = round_mean(s, s.seconds, usual);
  double rounds = 0;
  for (const std::size_t each : slow) rounds += static_cast<double>(s.rounds[each]);
  const double longer = (slow_mean - typical) * rounds;
  const double share = longer / std::max(facts.app.wall_seconds, 1e-12);
  const double series = std::accumulate(s.seconds.begin(), s.seconds.end(), 0.0);
  const bool are_the_work = slow.size() > 1 && longer > kOfTheSeries * series;
  // Lack of processors makes no round so many times as long.
  const bool is_far_off = slow_mean > kFarOff * typical;
  if (share < kLeastShareOfRun || are_the_work || (!is_far_off && is_of_the_machine(facts, s, slow, usual))) return;
  const std::string words = rounds_in_words(s, slow);
  const bool is_single = slow.size() == 1 && s.rounds[slow[0]] == 1;
  const bool is_one = is_single || (words.starts_with("every ") && words.ends_with(")"));
  std::string text = fmt::format("{} {} {} times as long as the others ({} instead of {}), {} of the run in all.",
                                 capitalised(words), is_one ? "takes" : "take", as_factor(slow_mean / typical),
                                 human_seconds(slow_mean), human_seconds(typical), human_share(share));
  const std::string why = main_difference(facts.app, s, slow, usual);
  if (!why.empty()) text += fmt::format(" In {} {}.", is_single ? "it" : "them", why);
  out.push_back({"slow_iterations",
                 Severity::note,
                 share,
                 text,
                 "",
                 {{"rounds", rounds}, {"seconds", slow_mean}, {"usual_seconds", typical}, {"share", share}}});
}

// The position that splits the series into the two parts that differ most, by least squares of logarithms; 0: none.
std::size_t change_position(const std::vector<double>& seconds, SnapshotRange range) {
  const double usual = median({seconds.begin() + static_cast<std::ptrdiff_t>(range.begin),
                               seconds.begin() + static_cast<std::ptrdiff_t>(range.end)});
  if (!(usual > 0)) return 0;
  std::vector<double> sums{0.0};  // of the logarithms so far; single slow iterations count little
  for (std::size_t i = range.begin; i < range.end; ++i)
    sums.push_back(sums.back() + std::log(std::clamp(seconds[i] / usual, 1 / kFarOff, kFarOff)));
  const std::size_t count = range.end - range.begin;
  std::size_t best = 0;
  double most = 0;
  for (std::size_t left = kFewestSnapshots; left + kFewestSnapshots <= count; ++left) {
    const auto n = static_cast<double>(count), l = static_cast<double>(left);
    const double difference = sums[left] / l - (sums[count] - sums[left]) / (n - l);
    const double explained = l * (n - l) / n * difference * difference;
    if (explained <= most) continue;
    most = explained;
    best = left;
  }
  return best == 0 ? 0 : range.begin + best;
}

// The time of an iteration changes at one position. Returns whether it does; then there is no trend.
bool find_change(const Facts& facts, const SnapshotSeries& s, std::vector<Finding>& out) {
  const auto seconds = round_means(s, s.seconds);
  const SnapshotRange range = comparable(s);
  const std::size_t at = change_position(seconds, range);
  if (at == 0) return false;
  if (!change_exceeds_noise(std::span(seconds).subspan(range.begin, range.end - range.begin), at - range.begin))
    return false;
  std::vector<std::size_t> before, after;
  for (const std::size_t i : all_but(range, slow_snapshots(s))) (i < at ? before : after).push_back(i);
  if (before.empty() || after.empty()) return false;
  const auto median_of = [&](const std::vector<std::size_t>& chosen) {
    std::vector<double> values;
    for (const std::size_t each : chosen) values.push_back(seconds[each]);
    return median(values);
  };
  const double first = round_mean(s, s.seconds, before), second = round_mean(s, s.seconds, after);
  if (!(first > 0 && second > 0) || std::max(first, second) < kStep * std::min(first, second)) return false;
  // A step, not a slope: nearly all iterations lie on their side, and the step is as high next to the change.
  const double middle = std::sqrt(first * second);
  const auto on_side = [&](const std::vector<std::size_t>& chosen, bool is_less) {
    const auto count =
        std::ranges::count_if(chosen, [&](std::size_t each) { return (seconds[each] < middle) == is_less; });
    return static_cast<double>(count) / static_cast<double>(chosen.size());
  };
  const bool grows = second > first;
  if (on_side(before, grows) < kOnItsSide || on_side(after, !grows) < kOnItsSide) return false;
  const std::size_t near = std::max<std::size_t>(5, std::min(before.size(), after.size()) / 5);
  const std::vector<std::size_t> last(before.end() - static_cast<std::ptrdiff_t>(std::min(near, before.size())),
                                      before.end()),
      next(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(std::min(near, after.size())));
  if (std::abs(median_of(next) - median_of(last)) < kOfTheStep * std::abs(second - first)) return false;
  const auto& longer = grows ? after : before;
  if (is_of_the_machine(facts, s, longer, grows ? before : after)) return false;
  double cost = 0;
  for (const std::size_t each : longer)
    cost += std::max(0.0, seconds[each] - std::min(first, second)) * static_cast<double>(s.rounds[each]);
  const double share = cost / std::max(facts.app.wall_seconds, 1e-12);
  if (share < kLeastShareOfRun) return true;
  std::string text = fmt::format("From {} {} on, each takes {} instead of {}.", round_word(s, true),
                                 first_number(s, at), human_seconds(second), human_seconds(first));
  const std::string why =
      grows ? main_difference(facts.app, s, after, before) : main_difference(facts.app, s, before, after);
  if (!why.empty()) text += fmt::format(" {} {}.", grows ? "From there on" : "Before it", why);
  out.push_back({"iterations_change",
                 Severity::note,
                 share,
                 text,
                 grows
                     ? "Look for the reason there: another phase, full memory, the file system, a shared or throttled "
                       "processor."
                     : "",
                 {{"number", static_cast<double>(first_number(s, at))},
                  {"first_seconds", first},
                  {"last_seconds", second},
                  {"share", share}}});
  return true;
}

// Iterations take longer and longer, or less and less time, from the first fifth of the series to the last.
void find_trend(const Facts& facts, const SnapshotSeries& s, std::vector<Finding>& out) {
  constexpr std::size_t kParts = 5;
  const auto seconds = round_means(s, s.seconds);
  const auto [begin, end] = comparable(s);
  const std::size_t count = end - begin;
  if (count < 4 * kParts) return;
  std::vector<double> usual;  // without the slow ones
  std::vector<std::vector<std::size_t>> parts(kParts);
  for (const std::size_t i : all_but({begin, end}, slow_snapshots(s))) {
    usual.push_back(seconds[i]);
    parts[(i - begin) * kParts / count].push_back(i);
  }
  if (!trend_exceeds_noise(usual)) return;
  if (parts.front().empty() || parts.back().empty()) return;
  const double first = round_mean(s, s.seconds, parts.front()), last = round_mean(s, s.seconds, parts.back());
  const bool grows = last > first;
  const double least = std::min(first, last), most = std::max(first, last);
  if (!(least > 0) || most / least < kTrend) return;
  if (is_of_the_machine(facts, s, grows ? parts.back() : parts.front(), grows ? parts.front() : parts.back())) return;
  double cost = 0;
  for (std::size_t i = begin; i < end; ++i)
    cost += std::max(0.0, seconds[i] - least) * static_cast<double>(s.rounds[i]);
  const double share = cost / std::max(facts.app.wall_seconds, 1e-12);
  if (share < kLeastShareOfRun) return;
  std::string text = fmt::format("{} takes {}: {} in the first fifth of the {} {}, {} in the last one.",
                                 capitalised((s.trigger == "iteration" ? "an " : "a ") + round_word(s, true)),
                                 grows ? "longer and longer" : "less and less time", human_seconds(first),
                                 with_separators(rounds_in(s)), round_word(s, false), human_seconds(last));
  const std::string why = grows ? main_difference(facts.app, s, parts.back(), parts.front())
                                : main_difference(facts.app, s, parts.front(), parts.back());
  if (!why.empty()) text += fmt::format(" {} {}.", grows ? "In the last fifth" : "In the first fifth", why);
  out.push_back({"iterations_trend",
                 Severity::note,
                 share,
                 text,
                 grows ? "Look for data that grows with the steps: lists, particles, a mesh, a file." : "",
                 {{"first_seconds", first}, {"last_seconds", last}, {"share", share}}});
}

void find_time_outside_of_the_loop(const Facts& facts, const SnapshotSeries& s, std::vector<Finding>& out) {
  const double whole = facts.app.wall_seconds;
  const double inside = std::min(whole, std::accumulate(s.seconds.begin(), s.seconds.end(), 0.0));
  const double before = std::clamp(s.begin_seconds.front(), 0.0, whole - inside);
  const double after = std::max(0.0, whole - before - inside);
  if (before + after < kOutsideOfTheLoop * whole) return;
  out.push_back(
      {"outside_of_the_loop",
       Severity::note,
       (before + after) / whole,
       fmt::format("The main loop ({} iterations that each begin with {}) takes {} of the run; {} precede it, "
                   "{} follow it.",
                   with_separators(rounds_in(s)), s.function, human_share(inside / whole), human_seconds(before),
                   human_seconds(after)),
       "",
       {{"before_seconds", before}, {"after_seconds", after}, {"loop_seconds", inside}}});
}

}  // namespace

// The program's own marks have precedence over detected loops, the main loop over inner loops.
void find_iterations(const Facts& facts, std::vector<Finding>& out) {
  const auto is_judged = [&](const SnapshotSeries& s) {
    return s.seconds.size() >= kFewestSnapshots && s.trigger != "timer" && s.name != kFurtherNames &&
           std::accumulate(s.seconds.begin(), s.seconds.end(), 0.0) >= kLeastOfRun * facts.app.wall_seconds;
  };
  bool are_marked = false, has_findings = false;
  for (const SnapshotSeries& s : facts.app.snapshots.series) {
    const bool is_loop = s.trigger == "iteration", is_inner = is_loop && !s.name.empty();
    if (!is_judged(s) || (is_loop && are_marked) || (is_inner && has_findings)) continue;
    are_marked = are_marked || !is_loop;
    const std::size_t before = out.size();
    find_slow_rounds(facts, s, out);
    const std::size_t without_trend = out.size();
    if (!find_change(facts, s, out)) find_trend(facts, s, out);
    if (out.size() == without_trend) find_rank_drift(facts, s, out);
    has_findings = has_findings || out.size() != before;
    if (is_loop && !is_inner) find_time_outside_of_the_loop(facts, s, out);
  }
}

}  // namespace ardoise::reports
