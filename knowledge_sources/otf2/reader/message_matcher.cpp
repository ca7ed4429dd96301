#include "knowledge_sources/otf2/reader/message_matcher.hpp"

#include <algorithm>

namespace ardoise::knowledge_sources {

void MessageMatcher::take(const MessageHalf& half) {
  Channel& channel = channels_[half.channel];
  if (channel.is_counted) {
    ++(half.is_send ? channel.counted_sends : channel.counted_receives);
    ++without_room_;
    return;
  }
  auto& others = half.is_send ? channel.receives : channel.sends;
  if (others.empty()) {
    (half.is_send ? channel.sends : channel.receives).push_back(half);
    if (++held_ > most_) count_largest();
    return;
  }
  const MessageHalf other = others.front();
  others.pop_front();
  --held_;
  if (half.is_send) {
    pair_(half, other);
  } else {
    pair_(other, half);
  }
}

void MessageMatcher::cancel(const MessageHalf& send) {
  Channel& channel = channels_[send.channel];
  if (channel.is_counted) {
    channel.counted_sends -= std::min<std::uint64_t>(channel.counted_sends, 1);
    return;
  }
  auto& sends = channel.sends;
  const auto found =
      std::find_if(sends.begin(), sends.end(), [&](const MessageHalf& each) { return each.number == send.number; });
  if (found == sends.end()) return;
  sends.erase(found);
  --held_;
}

void MessageMatcher::count_largest() {
  const auto size_of = [](const auto& each) {
    return each.second.is_counted ? std::size_t{0} : each.second.sends.size() + each.second.receives.size();
  };
  Channel& channel = std::ranges::max_element(channels_, {}, size_of)->second;
  channel.is_counted = true;
  channel.counted_sends = channel.sends.size();
  channel.counted_receives = channel.receives.size();
  without_room_ += channel.counted_sends + channel.counted_receives;
  held_ -= channel.sends.size() + channel.receives.size();
  for (auto* const list : {&channel.sends, &channel.receives}) {
    if (list->size() > 1) list->resize(1);
    list->shrink_to_fit();
  }
}

}  // namespace ardoise::knowledge_sources
