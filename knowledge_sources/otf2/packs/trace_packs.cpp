#include "knowledge_sources/otf2/packs/trace_packs.hpp"

namespace ardoise::knowledge_sources {

TracedRank& TracePacks::rank_of(std::uint32_t number, std::uint64_t first_tick) {
  ranks_.resize(program_.ranks());
  auto& rank = ranks_.at(number);
  if (!rank) rank = std::make_unique<TracedRank>(program_, number, first_tick, take_);
  return *rank;
}

TracePacks::Place TracePacks::place_of(const ArchivedLocation& location, std::uint64_t time) {
  const auto [found, is_new] = places_.try_emplace(&location);
  if (!is_new) return found->second;
  const auto place = program_.thread_of(location);
  if (!place) return found->second;
  auto& thread = threads_[std::uint64_t{place->rank} << 32 | place->thread];
  if (!thread) {
    TracedRank& rank = rank_of(place->rank, program_.tick(time));
    thread = std::make_unique<TracedThread>(rank, place->thread);
    rank.packs.define(instrument::ThreadDefinition{place->thread, 0, 0});
  }
  found->second = {thread.get(), place->is_samples};
  return found->second;
}

bool TracePacks::event(const ArchivedEvent& event) {
  if (event.location != last_location_) {
    last_location_ = event.location;
    last_place_ = place_of(*event.location, event.time);
  }
  if (last_place_.thread == nullptr) return false;
  if (last_place_.is_samples) {
    last_place_.thread->sample(event);
  } else {
    last_place_.thread->event(event);
  }
  if (++events_ % kEventsTogether == 0) {
    for (const auto& [number, thread] : threads_) thread->flush();
    for (const auto& rank : ranks_) {
      if (rank) rank->packs.flush();
    }
  }
  return true;
}

void TracePacks::finish() {
  for (const auto& [number, thread] : threads_) thread->end();
  for (std::uint32_t rank = 0; rank < program_.ranks(); ++rank) {
    TracedRank& own = rank_of(rank, program_.origin_tick());
    own.finish();
    losses_.add(own.losses);
  }
  threads_.clear();
  ranks_.clear();
}

std::vector<std::string> TracePacks::notices() const {
  std::vector<std::string> list = program_.notices();
  const auto more = losses_.sentences();
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

}  // namespace ardoise::knowledge_sources
