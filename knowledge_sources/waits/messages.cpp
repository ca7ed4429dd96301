// See messages.hpp.
#include "knowledge_sources/waits/messages.hpp"

namespace ardoise::knowledge_sources {

Messages::Key Messages::key_of(const Channel& channel) {
  if (last_comm_ >= comms_.size() || comms_[last_comm_] != channel.comm) {
    const auto [number, added] = comm_numbers_.insert(channel.comm, static_cast<std::uint32_t>(comms_.size()));
    if (added) comms_.push_back(channel.comm);
    last_comm_ = *number;
  }
  return {last_comm_, channel.source, channel.destination, channel.tag};
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
  const auto [place, added] = channels_.insert(key_of(channel), Queue{.sends = sends});
  Queue& queue = *place;
  if (queue.sends == sends) {
    if (ends_ >= kMostEnds) {
      full_ = true;
      if (added) channels_.erase(&queue);
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
  if (queue.first == kNone) channels_.erase(&queue);
}

void Messages::merge(const Messages& other, WaitSums& sums) {
  other.channels_.for_each([&](const Key& key, const Queue& queue) {
    const Channel channel{other.comms_[key.comm], key.source, key.destination, key.tag};
    for (std::uint32_t at = queue.first; at != kNone; at = other.nodes_[at].next)
      place(channel, queue.sends, other.nodes_[at].end, sums);
  });
}

void Messages::write(ByteWriter& out) const {
  out.put_count(channels_.size());
  channels_.for_each([&](const Key& key, const Queue& queue) {
    out.put(Channel{comms_[key.comm], key.source, key.destination, key.tag});
    out.put(std::uint32_t{queue.sends});
    std::uint64_t count = 0;
    for (std::uint32_t at = queue.first; at != kNone; at = nodes_[at].next) ++count;
    out.put_count(count);
    for (std::uint32_t at = queue.first; at != kNone; at = nodes_[at].next) out.put(nodes_[at].end);
  });
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
    in.check(queue.first != kNone && channels_.insert(key_of(channel), queue).second,
             "has a channel of messages twice, or without messages");
  }
}

}  // namespace ardoise::knowledge_sources
