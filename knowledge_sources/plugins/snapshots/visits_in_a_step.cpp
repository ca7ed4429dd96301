#include "knowledge_sources/plugins/snapshots/visits_in_a_step.hpp"

#include <algorithm>
#include <iterator>

namespace ardoise::knowledge_sources {
namespace {

constexpr std::size_t kFewestSteps = 10;
constexpr double kLonger = 4;       // times any other round of a step
constexpr double kOnItsSide = 0.9;  // of the rounds at a position

double median(std::vector<double> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, half);
  return *half;
}

bool is_pattern(std::span<const double> seconds, std::size_t visits) {
  std::vector<std::vector<double>> places(visits);
  for (std::size_t i = 0; i < seconds.size(); ++i) places[i % visits].push_back(seconds[i]);
  std::vector<double> medians;
  for (const auto& place : places) medians.push_back(median(place));
  const auto longest = std::ranges::max_element(medians) - medians.begin();
  double second = 0;
  for (std::size_t at = 0; at < visits; ++at) {
    if (static_cast<std::ptrdiff_t>(at) != longest) second = std::max(second, medians[at]);
  }
  const double most = medians[static_cast<std::size_t>(longest)];
  if (most < kLonger * second) return false;
  for (std::size_t at = 0; at < visits; ++at) {
    const bool is_long = static_cast<std::ptrdiff_t>(at) == longest;
    const auto on_side = std::ranges::count_if(places[at], [&](double each) { return (each > most / 2) == is_long; });
    if (static_cast<double>(on_side) < kOnItsSide * static_cast<double>(places[at].size())) return false;
  }
  return true;
}

}  // namespace

std::size_t visits_in_a_step(std::span<const double> seconds) {
  for (const std::size_t visits : {2u, 3u, 4u, 6u}) {
    if (seconds.size() >= kFewestSteps * visits && is_pattern(seconds, visits)) return visits;
  }
  return 1;
}

std::vector<Snapshot> joined_by(std::size_t visits, std::vector<Snapshot> rounds) {
  std::vector<Snapshot> steps;
  const std::size_t whole = rounds.size() / visits;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (i % visits == 0 && i / visits < whole) {
      steps.push_back(std::move(rounds[i]));
      continue;
    }
    Snapshot& step = steps.back();
    step.end = rounds[i].end;
    step.ns += rounds[i].ns;
    std::ranges::copy(rounds[i].calls, std::back_inserter(step.calls));
  }
  return steps;
}

}  // namespace ardoise::knowledge_sources
