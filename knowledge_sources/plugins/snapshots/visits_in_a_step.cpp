#include "knowledge_sources/plugins/snapshots/visits_in_a_step.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace ardoise::knowledge_sources {
namespace {

constexpr std::size_t kFewestSteps = 10;
constexpr double kLonger = 4;         // times any other round of a step
constexpr double kOnItsSide = 0.9;    // of the rounds at a position
constexpr double kMuchLonger = 10;    // times most rounds
constexpr double kMostOfTime = 0.75;  // in the long rounds
constexpr double kMoreCalls = 5;      // times those of most rounds

using Steps = std::vector<std::size_t>;

// The position of the long rounds; `visits`: there is no pattern.
std::size_t position_of_long(std::span<const RoundSums> rounds, std::size_t visits) {
  std::vector<std::vector<double>> places(visits);
  for (std::size_t i = 0; i < rounds.size(); ++i) places[i % visits].push_back(rounds[i].seconds);
  std::vector<double> medians;
  for (const auto& place : places) medians.push_back(median_of(place));
  const auto longest = static_cast<std::size_t>(std::ranges::max_element(medians) - medians.begin());
  double second = 0;
  for (std::size_t at = 0; at < visits; ++at) {
    if (at != longest) second = std::max(second, medians[at]);
  }
  if (medians[longest] < kLonger * second) return visits;
  for (std::size_t at = 0; at < visits; ++at) {
    const auto is_on_side = [&](double each) { return (each > medians[longest] / 2) == (at == longest); };
    const auto on_side = std::ranges::count_if(places[at], is_on_side);
    if (static_cast<double>(on_side) < kOnItsSide * static_cast<double>(places[at].size())) return visits;
  }
  return longest;
}

Steps steps_by_position(std::span<const RoundSums> rounds) {
  for (const std::size_t visits : {2u, 3u, 4u, 6u}) {
    if (rounds.size() < kFewestSteps * visits) continue;
    const std::size_t position = position_of_long(rounds, visits);
    if (position == visits) continue;
    Steps steps;
    for (std::size_t at = position; at < rounds.size(); at += visits) steps.push_back(at);
    return steps;
  }
  return {};
}

Steps steps_by_length(std::span<const RoundSums> rounds) {
  std::vector<double> seconds, calls;
  for (const RoundSums& each : rounds) {
    seconds.push_back(each.seconds);
    calls.push_back(each.calls);
  }
  if (seconds.empty()) return {};
  const double usual = median_of(seconds), usual_calls = median_of(std::move(calls));
  Steps steps;
  double in_long = 0, calls_in_long = 0;
  for (std::size_t at = 0; at < rounds.size(); ++at) {
    if (seconds[at] <= kMuchLonger * usual) continue;
    steps.push_back(at);
    in_long += seconds[at];
    calls_in_long += rounds[at].calls;
  }
  if (steps.size() + 1 < kFewestSteps) return {};
  // Nothing precedes the first step in the loop, so its first round may be short.
  const std::size_t distance = (steps.back() - steps.front()) / (steps.size() - 1);
  if (steps.front() > 2 * distance) return {};
  const auto count = static_cast<double>(steps.size());
  const bool holds_time = in_long >= kMostOfTime * std::accumulate(seconds.begin(), seconds.end(), 0.0),
             has_calls = calls_in_long >= kMoreCalls * usual_calls * count;
  return holds_time || has_calls ? steps : Steps();
}

// The share of the rounds with the bytes of the round `distance` later, if it is at least `least`; else 0.
double recurring(std::span<const RoundSums> rounds, std::size_t distance, double least) {
  const auto pairs = static_cast<double>(rounds.size() - distance);
  double others = 0;
  for (std::size_t i = 0; i + distance < rounds.size(); ++i) {
    others += rounds[i].bytes == rounds[i + distance].bytes ? 0 : 1;
    if (others > (1 - least) * pairs) return 0;
  }
  return 1 - others / pairs;
}

Steps steps_by_bytes(std::span<const RoundSums> rounds) {
  constexpr std::size_t kFewestRounds = 6, kFewestPeriods = 4;
  constexpr double kMost = 0.7, kHalf = 0.5;  // a warm-up shifts the pattern
  if (rounds.size() < kFewestRounds * kFewestPeriods || recurring(rounds, 1, kHalf) > 0) return {};
  for (std::size_t visits = 2; visits < kFewestRounds; ++visits) {
    if (recurring(rounds, visits, kMost) > 0) return {};  // and so do its multiples
  }
  for (std::size_t visits = kFewestRounds; visits * kFewestPeriods <= rounds.size(); ++visits) {
    if (recurring(rounds, visits, kMost) == 0) continue;
    std::size_t longest = 0;
    double most = 0;
    for (std::size_t position = 0; position < visits; ++position) {
      std::vector<double> seconds;
      for (std::size_t at = position; at < rounds.size(); at += visits) seconds.push_back(rounds[at].seconds);
      const double usual = median_of(std::move(seconds));
      if (usual <= most) continue;
      most = usual;
      longest = position;
    }
    Steps steps;
    for (std::size_t at = longest; at < rounds.size(); at += visits) steps.push_back(at);
    return steps;
  }
  return {};
}

// The first rounds of the steps with these long ones.
Steps begun_by(Steps long_rounds, std::span<const RoundSums> rounds) {
  if (long_rounds.size() < 2) return {};
  double all = 0, before = 0;
  for (const std::size_t each : long_rounds) {
    all += rounds[each].seconds;
    before += rounds[each].before;
  }
  const std::size_t distance = (long_rounds.back() - long_rounds.front()) / (long_rounds.size() - 1);
  if (2 * before >= all) {
    // The work before the first step is not in the loop.
    if (2 * long_rounds.front() >= distance && long_rounds.front() != 0) long_rounds.insert(long_rounds.begin(), 0);
    return long_rounds;
  }
  for (std::size_t& each : long_rounds) ++each;
  if (long_rounds.back() == rounds.size()) long_rounds.pop_back();
  long_rounds.insert(long_rounds.begin(), 0);
  return long_rounds;
}

}  // namespace

double median_of(std::vector<double> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, half);
  return *half;
}

std::vector<std::size_t> steps_of(std::span<const RoundSums> rounds) {
  for (const auto find : {steps_by_bytes, steps_by_position, steps_by_length}) {
    const Steps steps = begun_by(find(rounds), rounds);
    if (steps.size() < 2) continue;
    std::vector<RoundSums> joined;
    for (std::size_t i = steps.front(); i < rounds.size(); ++i) {
      if (joined.size() < steps.size() && i == steps[joined.size()]) {
        joined.push_back(rounds[i]);
        continue;
      }
      joined.back().seconds += rounds[i].seconds;
      joined.back().calls += rounds[i].calls;
      joined.back().bytes += rounds[i].bytes;
    }
    Steps longer = steps_of(joined);
    for (std::size_t& each : longer) each = steps[each];
    return longer.empty() ? steps : longer;
  }
  return {};
}

std::vector<Snapshot> joined_by(std::span<const std::size_t> steps, std::vector<Snapshot> rounds) {
  std::vector<Snapshot> joined;
  for (std::size_t i = steps.front(); i < rounds.size(); ++i) {
    if (joined.size() < steps.size() && i == steps[joined.size()]) {
      joined.push_back(std::move(rounds[i]));
      joined.back().rounds = 1;
      continue;
    }
    Snapshot& step = joined.back();
    step.end = rounds[i].end;
    step.ns += rounds[i].ns;
    std::ranges::copy(rounds[i].calls, std::back_inserter(step.calls));
  }
  return joined;
}

}  // namespace ardoise::knowledge_sources
