// Density maps: for every MPI and POSIX function, and for all of each kind, one cell a rank with calls, seconds and
// bytes. The cells follow the program's own Cartesian topology if one spans its world, else a near-square grid. Uses
// only the accounts of the level, which are exact where totals arrived. Contributes Application::layout and density.
#include <cmath>
#include <map>
#include <utility>

#include "knowledge_sources/calls/functions.hpp"
#include "knowledge_sources/interface/plugin.hpp"

namespace ardoise::knowledge_sources {
namespace {

reports::Layout layout_of(const Resolver& resolver) {
  reports::Layout layout;
  if (auto cartesian = resolver.cartesian()) {
    layout.cartesian = true;
    layout.extents = std::move(cartesian->extents);
    layout.rank_of_cell = std::move(cartesian->rank_of_cell);
    return layout;
  }
  // Wider than high, like a page.
  const std::uint32_t ranks = resolver.ranks();
  auto columns = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(ranks))));
  columns = columns == 0 ? 1 : columns;
  layout.extents = {(ranks + columns - 1) / columns, columns};
  return layout;
}

class Density final : public Analysis {
 public:
  explicit Density(const AnalysisContext&) {}
  void contribute(const Resolver& resolver, reports::Application& application) const override;
};

void Density::contribute(const Resolver& resolver, reports::Application& application) const {
  application.layout = layout_of(resolver);

  const std::uint32_t ranks = resolver.ranks();
  std::map<std::pair<std::uint16_t, int>, reports::DensityMap> maps;  // by class and function; -1: all of the class
  const auto cell = [&](std::uint16_t record_class, int function) -> reports::DensityMap& {
    const auto [place, added] = maps.try_emplace({record_class, function});
    reports::DensityMap& map = place->second;
    if (added) {
      const auto pack_class = static_cast<instrument::PackClass>(record_class);
      map.function = function < 0 ? (pack_class == instrument::PackClass::kMpi ? "MPI" : "POSIX")
                                  : function_info(pack_class, static_cast<std::uint32_t>(function)).name;
      map.calls.resize(ranks);
      map.seconds.resize(ranks);
      map.bytes.resize(ranks);
    }
    return map;
  };
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (const FunctionSums& sums : resolver.sums(rank)) {
      for (const int function : {-1, int{sums.function}}) {
        reports::DensityMap& map = cell(sums.record_class, function);
        map.calls[rank] += sums.calls;
        map.seconds[rank] += static_cast<double>(sums.ticks) * resolver.seconds_per_tick(rank);
        map.bytes[rank] += sums.bytes;
      }
    }
  }
  for (auto& [key, map] : maps) application.density.push_back(std::move(map));
}

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(density, "1.0", ardoise::knowledge_sources::Density)
