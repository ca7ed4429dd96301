// Waiting over time: waits of groups of consecutive ranks over the run, in the bins and groups of the temporal map.
// Memory: 8 KiB for each of at most kMaxGroups groups.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "knowledge_sources/containers/time_bins.hpp"
#include "knowledge_sources/matching/patterns.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class WaitingOverTime {
 public:
  static constexpr std::uint32_t kMaxGroups = 64;

  explicit WaitingOverTime(std::uint32_t ranks)
      : ranks_per_group_((std::max(ranks, 1u) + kMaxGroups - 1) / kMaxGroups),
        groups_((std::max(ranks, 1u) + ranks_per_group_ - 1) / ranks_per_group_, TimeBins(1)) {}

  // rank: the waiter's in the program.
  void add(std::uint32_t rank, const Wait& wait) {
    const double end = wait.begin + static_cast<double>(wait.ns);
    if (end <= 0 || end > 0x1p62) return;
    groups_[rank / ranks_per_group_].add(0, static_cast<std::uint64_t>(std::max(wait.begin, 0.0)),
                                         static_cast<std::uint64_t>(end));
  }
  void merge(const WaitingOverTime& other) {
    for (std::size_t group = 0; group < groups_.size(); ++group) groups_[group].merge(other.groups_[group]);
  }
  void write(ByteWriter& out) const {
    for (const TimeBins& each : groups_) each.write(out);
  }
  void read(ByteReader& in) {
    for (TimeBins& each : groups_) each.read(in);
  }
  void contribute(reports::WaitingOverTime& model) const {
    WaitingOverTime all = *this;
    unsigned shift = TimeBins::kFirstShift;
    for (const TimeBins& each : all.groups_) shift = std::max(shift, each.shift());
    std::size_t used = 0;
    for (TimeBins& each : all.groups_) {
      each.widen_to(shift);
      for (std::size_t bin = 0; bin < TimeBins::kBins && !each.empty(); ++bin)
        if (each.at(0, bin) != 0) used = std::max(used, bin + 1);
    }
    model.bin_seconds = std::ldexp(1e-9, static_cast<int>(shift));
    model.bins = static_cast<std::uint32_t>(used);
    model.groups = static_cast<std::uint32_t>(all.groups_.size());
    model.ranks_per_group = ranks_per_group_;
    for (const TimeBins& each : all.groups_) {
      for (std::size_t bin = 0; bin < used; ++bin)
        model.seconds.push_back(each.empty() ? 0 : static_cast<double>(each.at(0, bin)) * 1e-9);
    }
  }

 private:
  std::uint32_t ranks_per_group_;
  std::vector<TimeBins> groups_;
};

}  // namespace ardoise::knowledge_sources
