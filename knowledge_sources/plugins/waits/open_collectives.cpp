#include "knowledge_sources/plugins/waits/open_collectives.hpp"

namespace ardoise::knowledge_sources {

void OpenCollectives::add(const CollectiveKey& key, std::uint32_t function, const Arrival& arrival, WaitSums& sums) {
  if (calls_ >= kMostCalls) return sums.add_calls(arrival.part.rank, {.beyond_room = 1});
  const auto place = open_.try_emplace(key).first;
  OpenCollective& collective = place->second;
  if (collective.arrivals.empty()) {
    collective.function = function;
    collective.arrivals.reserve(std::min<std::size_t>(key.comm.size, 64));
  }
  collective.differs = collective.differs || function != collective.function;
  collective.arrivals.push_back(arrival);
  ++calls_;
  if (collective.arrivals.size() < key.comm.size) return;
  close(key, collective, sums);
  open_.erase(place);
}

void OpenCollectives::add(const NeighbourPair& pair) {
  OpenCollective& collective = open_[pair.key];
  if (pairs_ >= kMostPairs) {
    collective.lacks_pairs = true;
    return;
  }
  collective.neighbours.push_back(pair.ranks);
  ++pairs_;
}

void OpenCollectives::close(const CollectiveKey& key, OpenCollective& collective, WaitSums& sums) {
  calls_ -= key.comm.size;
  pairs_ -= collective.neighbours.size();
  if (collective.lacks_pairs) return add_unresolved(collective, {.beyond_room = 1}, sums);
  if (collective.differs) return add_unresolved(collective, {.incomplete = 1}, sums);
  waits_.clear();
  const CollectiveKind kind = collective_kind(collective.function);
  if (kind == CollectiveKind::kNeighbours) {
    find_neighbour_waits(is_nonblocking(collective.function), collective.arrivals, collective.neighbours, waits_);
  } else {
    find_waits(kind, is_nonblocking(collective.function), collective.arrivals, waits_);
  }
  sums.add(waits_);
  if (is_of_life(kind)) return;
  for (const Arrival& arrival : collective.arrivals) sums.count_call(arrival.part.rank);
}

void OpenCollectives::add_unresolved(const OpenCollective& collective, const Unresolved& each, WaitSums& sums) {
  for (const Arrival& arrival : collective.arrivals) sums.add_calls(arrival.part.rank, each);
}

void OpenCollectives::add_open(WaitSums& sums) const {
  for (const auto& [key, collective] : open_) add_unresolved(collective, {.incomplete = 1}, sums);
}

void OpenCollectives::merge(const OpenCollectives& other, WaitSums& sums) {
  for (const auto& [key, collective] : other.open_) {
    for (const Neighbours& ranks : collective.neighbours) add(NeighbourPair{key, ranks});
    if (collective.lacks_pairs) open_[key].lacks_pairs = true;
    for (const Arrival& arrival : collective.arrivals) add(key, collective.function, arrival, sums);
  }
}

void OpenCollectives::write(ByteWriter& out) const {
  out.put_count(open_.size());
  for (const auto& [key, collective] : open_) {
    out.put(key);
    out.put(collective.function);
    out.put(static_cast<std::uint32_t>((collective.differs ? 1 : 0) | (collective.lacks_pairs ? 2 : 0)));
    out.put_array(std::span<const Arrival>(collective.arrivals));
    out.put_array(std::span<const Neighbours>(collective.neighbours));
  }
}

void OpenCollectives::read(ByteReader& in, std::uint32_t ranks) {
  for (auto left = in.get_count(sizeof(CollectiveKey) + 16); left != 0; --left) {
    const CollectiveKey key = in.get<CollectiveKey>();
    OpenCollective collective;
    collective.function = in.get<std::uint32_t>();
    const auto flags = in.get<std::uint32_t>();
    collective.differs = (flags & 1) != 0;
    collective.lacks_pairs = (flags & 2) != 0;
    collective.arrivals = in.get_array<Arrival>();
    collective.neighbours = in.get_array<Neighbours>();
    in.check(collective.arrivals.size() < key.comm.size, "has a collective with more calls than ranks");
    for (const Arrival& arrival : collective.arrivals)
      in.check(arrival.part.rank < ranks, "refers to a rank that does not exist");
    calls_ += collective.arrivals.size();
    pairs_ += collective.neighbours.size();
    in.check(open_.try_emplace(key, std::move(collective)).second, "has a collective twice");
  }
}

}  // namespace ardoise::knowledge_sources
