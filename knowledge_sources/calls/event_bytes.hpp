// Bytes of a call by the shape of its record: the one place that defines which bytes count as sent and which as
// received. Header only; branch free, as it runs for every event.
#pragma once

#include <array>
#include <cstdint>

#include "instrument/format/event_reader.hpp"

namespace ardoise::knowledge_sources {

struct Moved {
  std::uint64_t sent, received;
  std::uint64_t size;  // "bytes" of the call: sent, or received if it sent none
};

// A record with this word: shape, function and communicator.
[[nodiscard]] constexpr instrument::MpiRecord record_of(std::uint32_t word) { return {0, 0, 0, 0, 0, 0, word}; }

namespace detail {
constexpr std::array<std::uint64_t, 16> shape_mask(std::initializer_list<instrument::Shape> shapes) {
  std::array<std::uint64_t, 16> mask{};
  for (const auto shape : shapes) mask[static_cast<std::size_t>(shape)] = ~std::uint64_t{0};
  return mask;
}
using enum instrument::Shape;
inline constexpr auto kSentMask = shape_mask({kSend, kCollective, kRooted, kNeighbour, kPut, kFileWrite});
// kPostReceive holds a capacity; the received bytes are in its completion. A probe receives nothing.
inline constexpr auto kReceivedMask = shape_mask({kReceive, kGet, kFileRead});
}  // namespace detail

[[nodiscard]] inline Moved moved(const instrument::MpiEvent& event) {
  const auto shape = static_cast<std::size_t>(event.record.shape());
  const std::uint64_t sent = event.bytes & detail::kSentMask[shape];
  std::uint64_t received = (event.bytes & detail::kReceivedMask[shape]) + event.received;
  if (event.receive_half != nullptr) [[unlikely]] {
    received += instrument::as<instrument::ReceiveHalfExtension>(*event.receive_half).bytes;
  }
  return {sent, received, sent != 0 ? sent : received};
}

// True: the completion holds received bytes (receives, reads). Sends and collectives record their bytes at the start.
[[nodiscard]] inline bool tells_bytes(const instrument::CompletionRecord& completion) {
  return completion.peer != instrument::kNoPeer || instrument::completion_bytes(completion) != 0;
}

}  // namespace ardoise::knowledge_sources
