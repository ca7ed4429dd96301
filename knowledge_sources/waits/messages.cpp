// See messages.hpp.
#include "knowledge_sources/waits/messages.hpp"

namespace ardoise::knowledge_sources {

std::size_t Messages::Hash::operator()(const Channel& channel) const {
  std::uint64_t hash = channel.comm.group_hash;
  for (const std::uint64_t word : {std::uint64_t{channel.comm.instance} << 32 | channel.comm.size,
                                   std::uint64_t{channel.source} << 32 | channel.destination,
                                   std::uint64_t{static_cast<std::uint32_t>(channel.tag)}}) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

void Messages::append(Queue& queue, const Part& end) {
  std::uint32_t place = free_;
  if (place == kNone) {
    place = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({});
  } else {
    free_ = nodes_[place].next;
  }
  nodes_[place] = {end, kNone};
  (queue.last == kNone ? queue.first : nodes_[queue.last].next) = place;
  queue.last = place;
  ++ends_;
}

void Messages::add(const Channel& channel, bool sends, const Part& end, WaitSums& sums) {
  if (full_) return sums.add_ends({.beyond_room = 1});
  place(channel, sends, end, sums);
}

void Messages::place(const Channel& channel, bool sends, const Part& end, WaitSums& sums) {
  const auto [place, added] = channels_.try_emplace(channel);
  Queue& queue = place->second;
  if (added) queue.sends = sends;
  if (queue.sends == sends) {
    if (ends_ >= kMostEnds) {
      full_ = true;
      if (added) channels_.erase(place);
      return sums.add_ends({.beyond_room = 1});
    }
    return append(queue, end);
  }
  const std::uint32_t first = queue.first;
  Node& other = nodes_[first];
  waits_.clear();
  if (sends) {
    find_message_waits(end, other.end, waits_);
  } else {
    find_message_waits(other.end, end, waits_);
  }
  sums.add(waits_);
  sums.count_message();
  queue.first = other.next;
  other.next = free_;
  free_ = first;
  --ends_;
  if (queue.first == kNone) channels_.erase(place);
}

void Messages::merge(const Messages& other, WaitSums& sums) {
  for (const auto& [channel, queue] : other.channels_) {
    for (std::uint32_t at = queue.first; at != kNone; at = other.nodes_[at].next)
      place(channel, queue.sends, other.nodes_[at].end, sums);
  }
}

void Messages::write(ByteWriter& out) const {
  out.put_count(channels_.size());
  for (const auto& [channel, queue] : channels_) {
    out.put(channel);
    out.put(std::uint32_t{queue.sends});
    std::uint64_t count = 0;
    for (std::uint32_t at = queue.first; at != kNone; at = nodes_[at].next) ++count;
    out.put_count(count);
    for (std::uint32_t at = queue.first; at != kNone; at = nodes_[at].next) out.put(nodes_[at].end);
  }
}

void Messages::read(ByteReader& in, std::uint32_t ranks) {
  for (auto left = in.get_count(sizeof(Channel) + 12); left != 0; --left) {
    const Channel channel = in.get<Channel>();
    Queue queue;
    queue.sends = in.get<std::uint32_t>() != 0;
    for (auto ends = in.get_count(sizeof(Part)); ends != 0; --ends) {
      const Part end = in.get<Part>();
      in.check(end.rank < ranks, "names a rank that is not there");
      append(queue, end);
    }
    in.check(channels_.try_emplace(channel, queue).second, "has a channel of messages twice");
  }
}

}  // namespace ardoise::knowledge_sources
