// Numbers the messages of one rank so that both ends of a message independently get the same number: messages between
// two ranks in a communicator with one tag are received in the order of sending (MPI does not let them overtake), so
// both ends count 0, 1, 2 … Receives count in the order of posting; if a receive ends while an earlier one from any
// source or with any tag might still get the previous message, its number is unknown and omitted.
//
// This requires all messages of the rank, in order: after records were aggregated, or if several threads make MPI
// calls, there are no numbers (stop()).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "knowledge_sources/containers/flat_table.hpp"
#include "knowledge_sources/matching/post_order.hpp"
#include "knowledge_sources/matching/started.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class MessageNumbers {
 public:
  using Number = std::optional<std::uint64_t>;
  static constexpr std::size_t kMostChannels = std::size_t{1} << 18;  // 24 bytes each; further ones have no numbers

  void stop() { is_on_ = false; }

  [[nodiscard]] Number send(const MessageKey& to);
  // Posted and completed at once; from: the actual source and tag.
  [[nodiscard]] Number receive(const MessageKey& from);
  // Posted by the call that began then; from: as passed.
  void post(std::uint64_t tick, const MessageKey& from);
  [[nodiscard]] Number end(std::uint64_t tick, std::int32_t source, std::int32_t tag);
  void cancel(std::uint64_t tick);
  // The process's next one on the communicator: all members call collectives in the same order.
  [[nodiscard]] Number collective(std::uint32_t comm) { return is_on_ ? Number(collectives_[comm]++) : std::nullopt; }

 private:
  using Channels = FlatTable<MessageKey, std::uint64_t>;
  [[nodiscard]] static Number next(Channels& channels, const MessageKey& key);
  [[nodiscard]] Number count(std::uint32_t which);

  bool is_on_ = true;
  std::unordered_map<std::uint32_t, std::uint64_t> collectives_;  // so far, by communicator
  Channels sent_, received_;                                      // so far
  PostOrder order_{PostOrder::Of::kReceives};
  StartedList<std::uint32_t> posted_;  // indices in order_
  std::uint32_t ended_ = 0;            // completed receives
  std::vector<EndInOrder> in_order_;   // reused memory
};

}  // namespace ardoise::knowledge_sources
