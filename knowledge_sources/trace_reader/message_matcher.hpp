// Puts the two ends of each message of an archive together.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "knowledge_sources/trace_reader/message_tracker.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe. Keeps what has no other end yet.
class MessageMatcher {
 public:
  using Pair = std::function<void(const MessageHalf& send, const MessageHalf& receive)>;
  explicit MessageMatcher(Pair pair) : pair_(std::move(pair)) {}

  void take(const MessageHalf& half);
  void cancel(const MessageHalf& send);

  struct Channel {
    std::deque<MessageHalf> sends, receives;  // without the other end
  };
  [[nodiscard]] const std::map<MessageChannel, Channel>& channels() const { return channels_; }

 private:
  Pair pair_;
  std::map<MessageChannel, Channel> channels_;
};

}  // namespace ardoise::knowledge_sources
