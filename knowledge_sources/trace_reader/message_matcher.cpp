// See message_matcher.hpp.
#include "knowledge_sources/trace_reader/message_matcher.hpp"

#include <algorithm>

namespace ardoise::knowledge_sources {

void MessageMatcher::take(const MessageHalf& half) {
  Channel& channel = channels_[half.channel];
  auto& others = half.is_send ? channel.receives : channel.sends;
  if (others.empty()) {
    (half.is_send ? channel.sends : channel.receives).push_back(half);
    return;
  }
  const MessageHalf other = others.front();
  others.pop_front();
  if (half.is_send) {
    pair_(half, other);
  } else {
    pair_(other, half);
  }
}

void MessageMatcher::cancel(const MessageHalf& send) {
  auto& sends = channels_[send.channel].sends;
  const auto found =
      std::find_if(sends.begin(), sends.end(), [&](const MessageHalf& each) { return each.number == send.number; });
  if (found != sends.end()) sends.erase(found);
}

}  // namespace ardoise::knowledge_sources
