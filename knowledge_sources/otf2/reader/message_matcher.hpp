// Matches the two ends of each message of an archive.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "knowledge_sources/otf2/reader/message_tracker.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe. Keeps up to `most` unmatched ends; beyond that, the channel with most of them is only counted.
class MessageMatcher {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 23;  // some 500 MB
  using Pair = std::function<void(const MessageHalf& send, const MessageHalf& receive)>;
  explicit MessageMatcher(Pair pair, std::size_t most = kMost) : pair_(std::move(pair)), most_(most) {}

  void take(const MessageHalf& half);
  void cancel(const MessageHalf& send);

  struct Channel {
    std::deque<MessageHalf> sends, receives;  // unmatched; is_counted: the first one of each, if any
    bool is_counted = false;
    std::uint64_t counted_sends = 0, counted_receives = 0;  // unpaired ones

    [[nodiscard]] std::uint64_t unpaired_sends() const {
      return is_counted ? counted_sends - std::min(counted_sends, counted_receives) : sends.size();
    }
    [[nodiscard]] std::uint64_t unpaired_receives() const {
      return is_counted ? counted_receives - std::min(counted_sends, counted_receives) : receives.size();
    }
  };
  [[nodiscard]] const std::map<MessageChannel, Channel>& channels() const { return channels_; }
  [[nodiscard]] std::uint64_t without_room() const { return without_room_; }  // ends that were only counted

 private:
  void count_largest();

  Pair pair_;
  const std::size_t most_;
  std::size_t held_ = 0;
  std::uint64_t without_room_ = 0;
  std::map<MessageChannel, Channel> channels_;
};

}  // namespace ardoise::knowledge_sources
