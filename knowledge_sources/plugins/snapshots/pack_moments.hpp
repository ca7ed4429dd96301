// Converts a pack of MPI calls to moments of its rank (rank_series.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knowledge_sources/interface/analysis.hpp"
#include "knowledge_sources/interface/pack_time.hpp"
#include "knowledge_sources/plugins/snapshots/rank_series.hpp"

namespace ardoise::knowledge_sources {

// Ticks of a pack on the program's time axis, in ns.
class PackTime {
 public:
  PackTime(const instrument::PackHeader& header, double nominal_ticks_per_second)
      : origin_(header.origin_tick), ns_per_tick_(ns_per_tick(header, nominal_ticks_per_second)) {}
  [[nodiscard]] std::int64_t at(std::uint64_t tick) const {
    return static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(tick - origin_)) * ns_per_tick_);
  }
  [[nodiscard]] std::uint64_t length(std::uint64_t ticks) const {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }

 private:
  std::uint64_t origin_;
  double ns_per_tick_;
};

// room: memory to reuse from pack to pack.
[[nodiscard]] std::span<const Moment> moments_of(const MpiSpan& span, const PackTime& time, std::vector<Moment>& room);

}  // namespace ardoise::knowledge_sources
