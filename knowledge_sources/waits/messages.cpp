// See messages.hpp.
#include "knowledge_sources/waits/messages.hpp"

namespace ardoise::knowledge_sources {

Messages::Key Messages::key_in_table(const Channel& channel) {
  if (last_comm_ >= comms_.size() || comms_[last_comm_] != channel.comm) {
    const auto [number, added] = comm_numbers_.insert(channel.comm, static_cast<std::uint32_t>(comms_.size()));
    if (added) comms_.push_back(channel.comm);
    last_comm_ = *number;
  }
  return {last_comm_, channel.source, channel.destination, channel.tag};
}

void Messages::add(const Channel& channel, bool sends, const Part& end, std::uint32_t& hint, WaitSums& sums) {
  const bool has_room = ends_.add(key_in_table(channel), sends, end, hint, [&](const Part& other) {
    waits_.clear();
    if (sends) {
      find_message_waits(end, other, waits_);
    } else {
      find_message_waits(other, end, waits_);
    }
    sums.add(waits_);
    sums.count_message(sends ? end : other, sends ? other : end);
  });
  if (!has_room) sums.add_ends({.beyond_room = 1});
}

void Messages::merge(const Messages& other, WaitSums& sums) {
  std::uint32_t hint = 0;
  other.ends_.for_each(
      [&](const Key& key, bool sends, const Part& end) { add(other.channel_of(key), sends, end, hint, sums); });
}

void Messages::write(ByteWriter& out) const {
  out.put_count(ends_.size());
  ends_.for_each([&](const Key& key, bool sends, const Part& end) {
    out.put(channel_of(key));
    out.put(std::uint32_t{sends});
    out.put(end);
  });
}

// In the order of each queue.
void Messages::read(ByteReader& in, std::uint32_t ranks) {
  std::uint32_t hint = 0;
  for (auto left = in.get_count(sizeof(Channel) + 4 + sizeof(Part)); left != 0; --left) {
    const Channel channel = in.get<Channel>();
    const bool sends = in.get<std::uint32_t>() != 0;
    const Part end = in.get<Part>();
    in.check(end.rank < ranks, "names a rank that is not there");
    const bool has_room = ends_.add(key_in_table(channel), sends, end, hint,
                                    [&](const Part&) { in.check(false, "has both ends of a message"); });
    in.check(has_room, "has more ends of messages than an analyzer keeps");
  }
}

}  // namespace ardoise::knowledge_sources
