// What changes over the rounds of a series of snapshots: the iterations of the main loop, the program's own marks.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "reports/findings/findings.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr std::size_t kFewestSnapshots = 10;  // snapshots, for anything to be said of them
constexpr double kLeastShareOfRun = 0.02;     // of the run
constexpr double kLeastOfRun = 0.2;           // a series of less tells too little
constexpr double kStandsOut = 2.5;            // times the usual iteration: no matter of chance any more
constexpr double kTrend = 1.25;               // from the first fifth to the last
constexpr double kClearTrend = 1.5;           // likewise: no matter of chance any more
constexpr double kInOrder = 0.6;              // of pairs of fifths that a trend has in its order
constexpr double kOutsideOfTheLoop = 0.1;     // of the run

std::vector<std::size_t> all_but(SnapshotRange range, const std::vector<std::size_t>& these) {
  std::vector<std::size_t> others;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (!std::ranges::binary_search(these, i)) others.push_back(i);
  }
  return others;
}

void find_slow_rounds(const Facts& facts, const SnapshotSeries& s, std::vector<Finding>& out) {
  const auto slow = slow_snapshots(s);
  if (slow.empty()) return;
  const auto usual = all_but(alike(s), slow);
  const auto seconds = of_a_round(s, s.seconds);
  double longer = 0, slow_mean = 0, rounds = 0;
  const double typical = median(seconds);
  for (const std::size_t each : slow) {
    longer += s.seconds[each] - typical * static_cast<double>(s.rounds[each]);
    slow_mean += s.seconds[each];
    rounds += static_cast<double>(s.rounds[each]);
  }
  slow_mean /= rounds;
  const double share = longer / std::max(facts.app.wall_seconds, 1e-12);
  if (share < kLeastShareOfRun) return;
  const std::string words = rounds_in_words(s, slow);
  const bool is_single = slow.size() == 1 && s.rounds[slow[0]] == 1;
  const bool is_one = is_single || words.starts_with("every ");
  std::string text = fmt::format("{} {} {:.1f} times as long as the others ({} instead of {}), {} of the run in all.",
                                 capitalised(words), is_one ? "takes" : "take", slow_mean / typical,
                                 human_seconds(slow_mean), human_seconds(typical), human_share(share));
  const std::string why = what_is_longer(facts.app, s, slow, usual);
  if (!why.empty()) text += fmt::format(" In {} {}.", is_single ? "it" : "them", why);
  out.push_back({"slow_iterations",
                 facts.crowded() || are_scattered(slow) || slow_mean < kStandsOut * typical ? Severity::note
                 : share > 0.1                                                              ? Severity::high
                                                                                            : Severity::medium,
                 share,
                 text,
                 "",
                 {{"rounds", rounds}, {"seconds", slow_mean}, {"usual_seconds", typical}, {"share", share}}});
}

// Whether an iteration takes longer and longer, or less: the medians of five parts of the loop.
void find_trend(const Facts& facts, const SnapshotSeries& s, std::vector<Finding>& out) {
  constexpr std::size_t kParts = 5;
  const auto seconds = of_a_round(s, s.seconds);
  const auto [begin, end] = alike(s);
  const std::size_t count = end - begin;
  if (count < 4 * kParts) return;
  std::vector<double> medians;
  std::vector<std::vector<std::size_t>> parts(kParts);
  for (std::size_t i = 0; i < count; ++i) parts[i * kParts / count].push_back(begin + i);
  for (const auto& part : parts) {
    std::vector<double> of_part;
    for (const std::size_t each : part) of_part.push_back(seconds[each]);
    medians.push_back(median(of_part));
  }
  const bool grows = medians.back() > medians.front();
  const double least = std::min(medians.front(), medians.back()), most = std::max(medians.front(), medians.back());
  if (!(least > 0) || most / least < kTrend) return;
  std::size_t in_order = 0, pairs = 0;
  for (std::size_t i = 0; i < kParts; ++i) {
    for (std::size_t later = i + 1; later < kParts; ++later, ++pairs)
      in_order += (medians[later] > medians[i]) == grows ? 1 : 0;
  }
  if (static_cast<double>(in_order) < kInOrder * static_cast<double>(pairs)) return;
  double cost = 0;
  for (std::size_t i = begin; i < end; ++i)
    cost += std::max(0.0, seconds[i] - least) * static_cast<double>(s.rounds[i]);
  const double share = cost / std::max(facts.app.wall_seconds, 1e-12);
  if (share < kLeastShareOfRun) return;
  std::string text = fmt::format("{} takes {}: {} in the first fifth of the {} {}, {} in the last one.",
                                 capitalised((s.trigger == "iteration" ? "an " : "a ") + round_word(s, true)),
                                 grows ? "longer and longer" : "less and less time", human_seconds(medians.front()),
                                 with_separators(rounds_in(s)), round_word(s, false), human_seconds(medians.back()));
  const std::string why = grows ? what_is_longer(facts.app, s, parts.back(), parts.front())
                                : what_is_longer(facts.app, s, parts.front(), parts.back());
  if (!why.empty()) text += fmt::format(" {} {}.", grows ? "In the end" : "At first", why);
  out.push_back({"iterations_trend",
                 grows && !facts.crowded() && most >= kClearTrend * least ? Severity::medium : Severity::note,
                 share,
                 text,
                 grows ? "What grows with the time step, lists, particles, a mesh, a file?" : "",
                 {{"first_seconds", medians.front()}, {"last_seconds", medians.back()}, {"share", share}}});
}

void find_time_outside_of_the_loop(const Facts& facts, const SnapshotSeries& s, std::vector<Finding>& out) {
  const double whole = facts.app.wall_seconds;
  const double inside = std::min(whole, std::accumulate(s.seconds.begin(), s.seconds.end(), 0.0));
  const double before = std::clamp(s.begin_seconds.front(), 0.0, whole - inside);
  const double after = std::max(0.0, whole - before - inside);
  if (before + after < kOutsideOfTheLoop * whole) return;
  out.push_back({"outside_of_the_loop",
                 Severity::note,
                 (before + after) / whole,
                 fmt::format("The main loop, {} iterations that each begin with {}, is {} of the run: the first {} "
                             "come before it, the last {} after it.",
                             with_separators(rounds_in(s)), s.function, human_share(inside / whole),
                             human_seconds(before), human_seconds(after)),
                 "",
                 {{"before_seconds", before}, {"after_seconds", after}, {"loop_seconds", inside}}});
}

}  // namespace

// The program's own marks say better than a loop that was found what belongs together.
void find_iterations(const Facts& facts, std::vector<Finding>& out) {
  const auto is_told = [&](const SnapshotSeries& s) {
    return s.seconds.size() >= kFewestSnapshots && s.trigger != "timer" &&
           std::accumulate(s.seconds.begin(), s.seconds.end(), 0.0) >= kLeastOfRun * facts.app.wall_seconds;
  };
  bool are_marked = false;
  for (const SnapshotSeries& s : facts.app.snapshots.series) {
    if (!is_told(s) || (s.trigger == "iteration" && are_marked)) continue;
    are_marked = are_marked || s.trigger != "iteration";
    find_slow_rounds(facts, s, out);
    find_trend(facts, s, out);
    if (s.trigger == "iteration") find_time_outside_of_the_loop(facts, s, out);
  }
}

}  // namespace ardoise::reports
