// Maps the numbers of sampled places of ranks (rank_places.hpp) to nodes of one calling context tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knowledge_sources/contexts/context_tree.hpp"
#include "knowledge_sources/contexts/rank_places.hpp"
#include "knowledge_sources/contexts/thread_samples.hpp"
#include "knowledge_sources/interface/resolver.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class PlaceNodes {
 public:
  // places, contexts: by rank; borrowed.
  PlaceNodes(const Resolver& resolver, std::span<const std::vector<SampledPlace>> places, const SampledRanks& contexts)
      : tree_(resolver), places_(places), contexts_(contexts) {}

  struct Where {
    std::uint32_t node, line;  // kNoLine: not known
  };
  // By number of the place; 0: unknown.
  [[nodiscard]] std::vector<Where> of_rank(std::uint32_t rank);
  [[nodiscard]] const ContextTree& tree() const { return tree_; }

 private:
  ContextTree tree_;
  std::span<const std::vector<SampledPlace>> places_;
  const SampledRanks& contexts_;
};

}  // namespace ardoise::knowledge_sources
