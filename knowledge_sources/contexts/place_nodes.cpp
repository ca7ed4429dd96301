#include "knowledge_sources/contexts/place_nodes.hpp"

namespace ardoise::knowledge_sources {

// Thread by thread, as the tree requires.
std::vector<PlaceNodes::Where> PlaceNodes::of_rank(std::uint32_t rank) {
  const auto& places = places_[rank];
  const ThreadSamples none;
  tree_.begin(rank, none);
  std::vector<Where> where(places.size() + 1, Where{tree_.sample({}).node, kNoLine});
  for (const ThreadSamples& thread : contexts_.of(rank)) {
    tree_.begin(rank, thread);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i].thread != thread.thread) continue;
      const ContextTree::Place place = tree_.sample(places[i].key);
      where[i + 1] = {place.node, place.line};
    }
  }
  return where;
}

}  // namespace ardoise::knowledge_sources
