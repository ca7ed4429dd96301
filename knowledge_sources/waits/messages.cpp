// See messages.hpp.
#include "knowledge_sources/waits/messages.hpp"

#include <algorithm>

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

Messages::Queue& Messages::queue_of(const Key& key, std::uint32_t& hint) {
  if (hint < queues_.size() && queues_[hint].key == key) return queues_[hint];
  if (const std::uint32_t* const known = queue_numbers_.find(key); known != nullptr) {
    hint = *known;
  } else {
    if (queues_.size() >= kMostIdle + 2 * ends_) forget_empty_queues();
    hint = static_cast<std::uint32_t>(queues_.size());
    queues_.push_back({.key = key});
    (void)queue_numbers_.insert(key, hint);
  }
  return queues_[hint];
}

// A program may use each tag once.
void Messages::forget_empty_queues() {
  std::erase_if(queues_, [](const Queue& queue) { return queue.first == kNone; });
  queue_numbers_ = {};
  for (std::uint32_t number = 0; number < queues_.size(); ++number)
    (void)queue_numbers_.insert(queues_[number].key, number);
}

void Messages::add(const Channel& channel, bool sends, const Part& end, std::uint32_t& hint, WaitSums& sums) {
  if (full_) return sums.add_ends({.beyond_room = 1});
  place(channel, sends, end, hint, sums);
}

void Messages::place(const Channel& channel, bool sends, const Part& end, std::uint32_t& hint, WaitSums& sums) {
  Queue& queue = queue_of(key_of(channel), hint);
  if (queue.first == kNone || queue.sends == sends) {
    full_ = full_ || ends_ >= kMostEnds;
    if (ends_ >= kMostEnds) return sums.add_ends({.beyond_room = 1});
    queue.sends = sends;
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
  if (queue.first == kNone) queue.last = kNone;
  other.next = free_;
  free_ = first;
  --ends_;
}

void Messages::merge(const Messages& other, WaitSums& sums) {
  std::uint32_t hint = 0;
  for (const Queue& queue : other.queues_) {
    for (std::uint32_t at = queue.first; at != kNone; at = other.nodes_[at].next)
      place(other.channel_of(queue), queue.sends, other.nodes_[at].end, hint, sums);
  }
}

void Messages::write(ByteWriter& out) const {
  out.put_count(ends_);
  for (const Queue& queue : queues_) {
    for (std::uint32_t at = queue.first; at != kNone; at = nodes_[at].next) {
      out.put(channel_of(queue));
      out.put(std::uint32_t{queue.sends});
      out.put(nodes_[at].end);
    }
  }
}

// In the order of each queue.
void Messages::read(ByteReader& in, std::uint32_t ranks) {
  std::uint32_t hint = 0;
  for (auto left = in.get_count(sizeof(Channel) + 4 + sizeof(Part)); left != 0; --left) {
    const Channel channel = in.get<Channel>();
    const bool sends = in.get<std::uint32_t>() != 0;
    const Part end = in.get<Part>();
    in.check(end.rank < ranks, "names a rank that is not there");
    Queue& queue = queue_of(key_of(channel), hint);
    in.check(queue.first == kNone || queue.sends == sends, "has both ends of a message");
    queue.sends = sends;
    append(queue, end);
  }
}

}  // namespace ardoise::knowledge_sources
