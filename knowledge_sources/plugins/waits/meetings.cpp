#include "knowledge_sources/plugins/waits/meetings.hpp"

namespace ardoise::knowledge_sources {

void Meetings::add(const MeetingKey& key, std::uint32_t function, const Arrival& arrival, WaitSums& sums) {
  if (calls_ >= kMostCalls) return sums.add_calls(arrival.part.rank, {.beyond_room = 1});
  const auto place = open_.try_emplace(key).first;
  Meeting& meeting = place->second;
  if (meeting.arrivals.empty()) {
    meeting.function = function;
    meeting.arrivals.reserve(std::min<std::size_t>(key.comm.size, 64));
  }
  meeting.differs = meeting.differs || function != meeting.function;
  meeting.arrivals.push_back(arrival);
  ++calls_;
  if (meeting.arrivals.size() < key.comm.size) return;
  close(key, meeting, sums);
  open_.erase(place);
}

void Meetings::add(const NeighbourPair& pair) {
  Meeting& meeting = open_[pair.key];
  if (pairs_ >= kMostPairs) {
    meeting.lacks_pairs = true;
    return;
  }
  meeting.neighbours.push_back(pair.ranks);
  ++pairs_;
}

void Meetings::close(const MeetingKey& key, Meeting& meeting, WaitSums& sums) {
  calls_ -= key.comm.size;
  pairs_ -= meeting.neighbours.size();
  if (meeting.lacks_pairs) return add_unresolved(meeting, {.beyond_room = 1}, sums);
  if (meeting.differs) return add_unresolved(meeting, {.incomplete = 1}, sums);
  waits_.clear();
  const CollectiveKind kind = collective_kind(meeting.function);
  if (kind == CollectiveKind::kNeighbours) {
    find_neighbour_waits(is_nonblocking(meeting.function), meeting.arrivals, meeting.neighbours, waits_);
  } else {
    find_waits(kind, is_nonblocking(meeting.function), meeting.arrivals, waits_);
  }
  sums.add(waits_);
  if (is_of_life(kind)) return;
  for (const Arrival& arrival : meeting.arrivals) sums.count_call(arrival.part.rank);
}

void Meetings::add_unresolved(const Meeting& meeting, const Unresolved& each, WaitSums& sums) {
  for (const Arrival& arrival : meeting.arrivals) sums.add_calls(arrival.part.rank, each);
}

void Meetings::add_open(WaitSums& sums) const {
  for (const auto& [key, meeting] : open_) add_unresolved(meeting, {.incomplete = 1}, sums);
}

void Meetings::merge(const Meetings& other, WaitSums& sums) {
  for (const auto& [key, meeting] : other.open_) {
    for (const Neighbours& ranks : meeting.neighbours) add(NeighbourPair{key, ranks});
    if (meeting.lacks_pairs) open_[key].lacks_pairs = true;
    for (const Arrival& arrival : meeting.arrivals) add(key, meeting.function, arrival, sums);
  }
}

void Meetings::write(ByteWriter& out) const {
  out.put_count(open_.size());
  for (const auto& [key, meeting] : open_) {
    out.put(key);
    out.put(meeting.function);
    out.put(static_cast<std::uint32_t>((meeting.differs ? 1 : 0) | (meeting.lacks_pairs ? 2 : 0)));
    out.put_array(std::span<const Arrival>(meeting.arrivals));
    out.put_array(std::span<const Neighbours>(meeting.neighbours));
  }
}

void Meetings::read(ByteReader& in, std::uint32_t ranks) {
  for (auto left = in.get_count(sizeof(MeetingKey) + 16); left != 0; --left) {
    const MeetingKey key = in.get<MeetingKey>();
    Meeting meeting;
    meeting.function = in.get<std::uint32_t>();
    const auto flags = in.get<std::uint32_t>();
    meeting.differs = (flags & 1) != 0;
    meeting.lacks_pairs = (flags & 2) != 0;
    meeting.arrivals = in.get_array<Arrival>();
    meeting.neighbours = in.get_array<Neighbours>();
    in.check(meeting.arrivals.size() < key.comm.size, "has a collective with more calls than ranks");
    for (const Arrival& arrival : meeting.arrivals)
      in.check(arrival.part.rank < ranks, "refers to a rank that does not exist");
    calls_ += meeting.arrivals.size();
    pairs_ += meeting.neighbours.size();
    in.check(open_.try_emplace(key, std::move(meeting)).second, "has a collective twice");
  }
}

}  // namespace ardoise::knowledge_sources
