// The bytes of an AggregateRecord in the terms of event_bytes.hpp: equal to those of the records that it replaces. For
// every knowledge source that sums records and must include those that a process has aggregated
// (docs/reference/event_format.md).
#pragma once

#include "instrument/format/event_format.hpp"
#include "knowledge_sources/calls/event_bytes.hpp"

namespace ardoise::knowledge_sources {

// True: the record, which comes from outside, can be added up.
[[nodiscard]] inline bool is_known(const instrument::AggregateRecord& record) {
  return static_cast<std::uint8_t>(record.part) < instrument::kAggregateParts &&
         record.function < (std::size_t{1} << instrument::kFunctionBits) && record.size_bits <= 64;
}

// kCall: sum of moved() of its events.
[[nodiscard]] inline Moved moved(const instrument::AggregateRecord& call) {
  const auto shape = static_cast<std::size_t>(record_of(call.word).shape());
  const std::uint64_t moves = detail::kSentMask[shape] | detail::kReceivedMask[shape];
  return {call.bytes & detail::kSentMask[shape], (call.bytes & detail::kReceivedMask[shape]) + call.received,
          call.size & moves};
}

// kCompletion: tells_bytes() of its records.
[[nodiscard]] inline bool tells_bytes(const instrument::AggregateRecord& completion) {
  return completion.peer != instrument::kNoPeer || completion.bytes != 0;
}

}  // namespace ardoise::knowledge_sources
