#include "reports/findings/efficiency_over_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reports/findings/efficiency.hpp"

namespace ardoise::reports {

namespace {

constexpr std::uint32_t kMostBins = 128;

// Groups of ranks over bins of time, in seconds for each rank of the group.
struct RankGrid {
  std::uint32_t groups = 0, bins = 0;
  double bin_seconds = 0;
  std::vector<double> seconds;  // [group * bins + bin]
  [[nodiscard]] double at(std::uint32_t group, std::uint32_t bin) const {
    return bin < bins ? seconds[static_cast<std::size_t>(group) * bins + bin] : 0;
  }
};

// Merges pairs of bins until a bin is as wide as `bin_seconds`.
RankGrid with_wider_bins(RankGrid grid, double bin_seconds) {
  while (grid.bin_seconds < 0.75 * bin_seconds) {
    RankGrid wider{grid.groups, (grid.bins + 1) / 2, 2 * grid.bin_seconds, {}};
    for (std::uint32_t group = 0; group < grid.groups; ++group) {
      for (std::uint32_t bin = 0; bin < wider.bins; ++bin)
        wider.seconds.push_back(grid.at(group, 2 * bin) + grid.at(group, 2 * bin + 1));
    }
    grid = std::move(wider);
  }
  return grid;
}

double ranks_in(const Application& a, std::uint32_t group, std::uint32_t ranks_per_group) {
  const std::uint64_t first = std::uint64_t{group} * ranks_per_group;
  return static_cast<double>(std::min<std::uint64_t>(first + ranks_per_group, a.ranks) - first);
}

// The part of a bin within the run.
double length_of(const Application& a, std::uint32_t bin, double bin_seconds) {
  return std::clamp(a.wall_seconds - bin * bin_seconds, 0.0, bin_seconds);
}

RankGrid in_mpi(const Application& a) {
  const TemporalMap& map = a.temporal;
  RankGrid grid{map.groups, map.bins, map.bin_seconds, {}};
  grid.seconds.resize(std::size_t{map.groups} * map.bins);
  for (std::size_t row = 0; row < map.classes.size(); ++row) {
    if (map.classes[row] == "io") continue;
    for (std::size_t cell = 0; cell < grid.seconds.size(); ++cell)
      grid.seconds[cell] += double{map.share[row * grid.seconds.size() + cell]} *
                            length_of(a, static_cast<std::uint32_t>(cell % map.bins), map.bin_seconds);
  }
  return grid;
}

RankGrid in_waiting(const Application& a) {
  const WaitingOverTime& map = a.waiting.over_time;
  RankGrid grid{map.groups, map.bins, map.bin_seconds, map.seconds};
  for (std::uint32_t group = 0; group < map.groups; ++group) {
    for (std::uint32_t bin = 0; bin < map.bins; ++bin)
      grid.seconds[std::size_t{group} * map.bins + bin] /= ranks_in(a, group, map.ranks_per_group);
  }
  return grid;
}

}  // namespace

void fill_efficiencies(Application& a) {
  Waiting& waiting = a.waiting;
  const auto times = times_of_ranks(a);
  waiting.per_rank.without_processor_seconds = waiting_without_processor(a, times);
  const Efficiency whole = efficiency_of(a);
  if (!whole.parts_known) return;
  waiting.efficiency = {whole.load_balance, whole.serialisation, whole.transfer, whole.parallel};
  for (Communicator& communicator : a.communicators) fill_efficiency(a, times, communicator);
  if (a.temporal.bins == 0 || a.temporal.groups != waiting.over_time.groups) return;
  double width = std::max(a.temporal.bin_seconds, waiting.over_time.bin_seconds);
  while (a.wall_seconds / width > kMostBins) width *= 2;
  const RankGrid mpi = with_wider_bins(in_mpi(a), width), waits = with_wider_bins(in_waiting(a), width);
  EfficiencyOverTime& over_time = waiting.efficiency_over_time;
  over_time.bin_seconds = width;
  for (std::uint32_t bin = 0; bin < mpi.bins; ++bin) {
    const double length = length_of(a, bin, width);
    if (!(length > 0)) break;
    double sum = 0, most = 0, ideal = 0;
    for (std::uint32_t group = 0; group < mpi.groups; ++group) {
      const double useful = std::max(0.0, length - mpi.at(group, bin));
      sum += useful * ranks_in(a, group, a.temporal.ranks_per_group);
      most = std::max(most, useful);
      ideal = std::max(ideal, std::min(length, useful + waits.at(group, bin)));
    }
    const double balance = most > 0 ? sum / a.ranks / most : 1, serialisation = ideal > 0 ? most / ideal : 1;
    over_time.load_balance.push_back(balance);
    over_time.serialisation.push_back(serialisation);
    over_time.transfer.push_back(ideal / length);
    over_time.parallel.push_back(sum / a.ranks / length);
  }
}

}  // namespace ardoise::reports
