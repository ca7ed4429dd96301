#include "reports/findings/point_clusters.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace ardoise::reports {
namespace {

std::uint32_t count_of(const std::vector<std::uint32_t>& numbers) {
  return numbers.empty() ? 0 : std::ranges::max(numbers) + 1;
}

// Numbers from 0 in order of appearance.
void renumber(std::vector<std::uint32_t>& numbers) {
  std::vector<std::uint32_t> seen;
  for (std::uint32_t& each : numbers) {
    const auto found = std::ranges::find(seen, each);
    const auto number = static_cast<std::uint32_t>(found - seen.begin());
    if (found == seen.end()) seen.push_back(each);
    each = number;
  }
}

// Jaccard's index: points in both clusters ÷ points in either.
double shared(const std::vector<std::uint32_t>& numbers, std::uint32_t number, const std::vector<std::uint32_t>& others,
              std::uint32_t other) {
  std::size_t both = 0, either = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool in_one = numbers[i] == number, in_other = others[i] == other;
    both += in_one && in_other ? 1 : 0;
    either += in_one || in_other ? 1 : 0;
  }
  return either == 0 ? 0 : static_cast<double>(both) / static_cast<double>(either);
}

}  // namespace

double distance_of(const PlanePoint& a, const PlanePoint& b) { return std::hypot(a.x - b.x, a.y - b.y); }

std::vector<std::uint32_t> clusters_of(std::span<const PlanePoint> points, double reach, std::size_t most) {
  std::vector<std::tuple<double, std::size_t, std::size_t>> steps;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) steps.emplace_back(distance_of(points[i], points[j]), i, j);
  }
  std::ranges::sort(steps);
  std::vector<std::uint32_t> numbers(points.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  std::size_t clusters = points.size();
  for (const auto& [length, i, j] : steps) {
    if (length > reach && clusters <= most) break;
    const std::uint32_t from = numbers[j], to = numbers[i];
    if (from == to) continue;
    std::ranges::replace(numbers, from, to);
    --clusters;
  }
  renumber(numbers);
  return numbers;
}

std::vector<std::vector<std::uint32_t>> tracked_clusters(const std::vector<std::vector<std::uint32_t>>& at_times) {
  std::vector<std::vector<std::uint32_t>> result;
  std::uint32_t known = 0;
  for (const std::vector<std::uint32_t>& now : at_times) {
    const std::uint32_t clusters = count_of(now);
    std::vector<std::tuple<double, std::uint32_t, std::uint32_t>> pairs;  // share of points, known one, cluster
    for (std::uint32_t number = 0; number < known; ++number) {
      for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
        double most = 0;
        for (const auto& before : result) most = std::max(most, shared(before, number, now, cluster));
        if (most > 0) pairs.emplace_back(-most, number, cluster);
      }
    }
    std::ranges::sort(pairs);
    constexpr std::uint32_t kNone = UINT32_MAX;
    std::vector<std::uint32_t> number_of(clusters, kNone);
    std::vector<bool> is_taken(known, false);
    for (const auto& [share, number, cluster] : pairs) {
      if (is_taken[number] || number_of[cluster] != kNone) continue;
      number_of[cluster] = number;
      is_taken[number] = true;
    }
    for (std::uint32_t& number : number_of) {
      if (number == kNone) number = known++;
    }
    std::vector<std::uint32_t>& numbers = result.emplace_back();
    for (const std::uint32_t cluster : now) numbers.push_back(number_of[cluster]);
  }
  return result;
}

}  // namespace ardoise::reports
