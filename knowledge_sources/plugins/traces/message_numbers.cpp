#include "knowledge_sources/plugins/traces/message_numbers.hpp"

namespace ardoise::knowledge_sources {

MessageNumbers::Number MessageNumbers::next(Channels& channels, const MessageKey& key) {
  if (std::uint64_t* const known = channels.find(key); known != nullptr) return (*known)++;
  if (channels.size() >= kMostChannels) return std::nullopt;
  (void)channels.insert(key, 1);
  return 0;
}

MessageNumbers::Number MessageNumbers::send(const MessageKey& to) { return is_on_ ? next(sent_, to) : std::nullopt; }

// Operations that are in order now; the number of the one that has just ended, if it is among them.
MessageNumbers::Number MessageNumbers::count(std::uint32_t which) {
  Number of_it;
  for (const EndInOrder& each : in_order_) {
    const Number number = next(received_, each.key);
    if (each.part->call == which) of_it = number;
  }
  in_order_.clear();
  return of_it;
}

MessageNumbers::Number MessageNumbers::receive(const MessageKey& from) {
  if (!is_on_) return std::nullopt;
  Part part{};
  part.call = ++ended_;
  if (!order_.add(from, part, {}, in_order_)) stop();
  return count(part.call);
}

void MessageNumbers::post(std::uint64_t tick, const MessageKey& from) {
  if (!is_on_) return;
  const std::uint32_t place = order_.post(from, {});
  if (place == PostOrder::kNone) return stop();
  posted_.add(tick, place);
}

MessageNumbers::Number MessageNumbers::end(std::uint64_t tick, std::int32_t source, std::int32_t tag) {
  const auto place = is_on_ ? posted_.take(tick) : std::nullopt;
  if (!place) return std::nullopt;
  Part part{};
  part.call = ++ended_;
  order_.end(*place, source, tag, part, {}, in_order_);
  return count(part.call);
}

void MessageNumbers::cancel(std::uint64_t tick) {
  const auto place = is_on_ ? posted_.take(tick) : std::nullopt;
  if (!place) return;
  order_.cancel(*place, in_order_);
  (void)count(0);
}

}  // namespace ardoise::knowledge_sources
