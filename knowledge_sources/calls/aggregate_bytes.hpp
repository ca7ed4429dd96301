// What an AggregateRecord says, in the terms of event_bytes.hpp: the same bytes as the records that it stands for. For
// every knowledge source that sums records and must not lose those that a process has folded
// (docs/reference/event_format.md).
#pragma once

#include "instrument/format/event_format.hpp"
#include "knowledge_sources/calls/event_bytes.hpp"

namespace ardoise::knowledge_sources {

// Of a record from outside: only these are to be added up.
[[nodiscard]] inline bool is_known(const instrument::AggregateRecord& record) {
  return static_cast<std::uint8_t>(record.part) < instrument::kAggregateParts &&
         record.function < (std::size_t{1} << instrument::kFunctionBits) && record.size_bits <= 64;
}

// kCall: moved() of its events, summed.
[[nodiscard]] inline Moved moved(const instrument::AggregateRecord& call) {
  const auto shape = static_cast<std::size_t>(record_of(call.word).shape());
  const std::uint64_t moves = detail::kSentMask[shape] | detail::kReceivedMask[shape];
  return {call.bytes & detail::kSentMask[shape], (call.bytes & detail::kReceivedMask[shape]) + call.received,
          call.size & moves};
}

// kCompletion: tells_bytes() of each.
[[nodiscard]] inline bool tells_bytes(const instrument::AggregateRecord& completion) {
  return completion.peer != instrument::kNoPeer || completion.bytes != 0;
}

}  // namespace ardoise::knowledge_sources
