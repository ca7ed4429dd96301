#include "knowledge_sources/plugins/waits/messages.hpp"

#include <algorithm>
#include <span>

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
  const Key key = key_in_table(channel);
  const bool has_room = ends_.add(key, sends, end, hint, [&](const Part& other) {
    evaluate({key.comm, channel.destination}, sends ? end : other, sends ? other : end, sums);
  });
  if (!has_room) sums.add_ends(end.rank, {.beyond_room = 1});
}

void Messages::evaluate(const Receiver& receiver, const Part& send, const Part& receive, WaitSums& sums) {
  waits_.clear();
  find_message_waits(send, receive, waits_);
  if (receive.asked > 0 && send.posted < receive.begin && send.posted > receive.begin - receive.asked)
    sums.add_answer(receive.rank, send.rank, send.posted);
  // Later receives decide whether the order was wrong.
  const auto held_back = std::ranges::find_if(waits_, [](const Wait& wait) {
    return wait.pattern == WaitPattern::kLateSender && wait.certain && wait.ns != 0 && wait.operations <= 1;
  });
  if (held_back != waits_.end()) sums.report_early(*held_back);
  const auto use = [&sums](const Wait& wait) { sums.add(std::span(&wait, 1)); };
  wrong_order_.add(receiver, send, receive, held_back == waits_.end() ? nullptr : &*held_back, use);
  if (held_back != waits_.end()) waits_.erase(held_back);
  sums.add(waits_);
  sums.count_message(receive.rank);
}

void Messages::settle(WaitSums& sums) const {
  wrong_order_.settle([&sums](const Wait& wait) { sums.add(std::span(&wait, 1)); });
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
    in.check(end.rank < ranks, "refers to a rank that does not exist");
    const bool has_room = ends_.add(key_in_table(channel), sends, end, hint,
                                    [&](const Part&) { in.check(false, "has both ends of a message"); });
    in.check(has_room, "has more ends of messages than an analyzer keeps");
  }
}

}  // namespace ardoise::knowledge_sources
