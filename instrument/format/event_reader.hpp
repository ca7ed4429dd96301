// Joins an MpiRecord with the extensions that follow it, for all readers of MPI records. Header only, no allocation,
// one pass.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {

[[nodiscard]] constexpr ExtensionKind extension_kind(const MpiRecord& record) {
  return static_cast<ExtensionKind>(record.comm());
}
[[nodiscard]] constexpr bool is_sampled(const MpiRecord& record) {
  return record.shape() == Shape::kExtension && extension_kind(record) == ExtensionKind::kSampled;
}
[[nodiscard]] constexpr bool is_mark(const MpiRecord& record) {
  return record.shape() == Shape::kExtension && extension_kind(record) == ExtensionKind::kMark;
}
[[nodiscard]] constexpr bool is_arguments(const MpiRecord& record) {
  return record.shape() == Shape::kExtension && extension_kind(record) == ExtensionKind::kArguments;
}
[[nodiscard]] constexpr bool is_context(const MpiRecord& record) {
  return record.shape() == Shape::kExtension && extension_kind(record) == ExtensionKind::kContext;
}
// True for extensions that a pack has before their call.
[[nodiscard]] constexpr bool is_ahead(const MpiRecord& record) { return is_arguments(record) || is_context(record); }
// True if `tag` of a record of this shape holds the bytes that this rank received.
[[nodiscard]] constexpr bool goes_both_ways(Shape shape) {
  return shape == Shape::kCollective || shape == Shape::kRooted || shape == Shape::kNeighbour;
}
template <class Extension>
[[nodiscard]] constexpr Extension as(const MpiRecord& record) {
  return std::bit_cast<Extension>(record);
}
[[nodiscard]] constexpr std::uint64_t completion_bytes(const CompletionRecord& record) {
  return std::uint64_t{record.bytes_high} << 32 | record.bytes_low;
}

// A call with its full values, wide or not.
struct MpiEvent {
  const MpiRecord& record;
  std::uint64_t duration;         // ticks
  std::uint64_t bytes;            // by the shape
  std::uint64_t received;         // collectives: received by this rank; 0 otherwise
  const MpiRecord* receive_half;  // of MPI_Sendrecv*, else nullptr: as<ReceiveHalfExtension>(*it)
};

struct IgnoreSampled {
  void operator()(const SampledExtension&) const {}
};
struct IgnoreMarks {
  void operator()(const MarkExtension&) const {}
};
struct IgnoreArguments {
  void operator()(const ArgumentsExtension&) const {}
};
struct IgnoreContexts {
  void operator()(const ContextExtension&) const {}
};
struct IgnoreGroups {
  void operator()(const GroupExtension&) const {}
};

// Calls event(MpiEvent) for each call, completion(CompletionRecord) for each completed request,
// neighbour(NeighbourExtension) for each part of a neighbourhood collective, started(StartedExtension) for each
// operation of an MPI_Startall, sampled(SampledExtension) for samples between calls, group(GroupExtension) for ranks of
// an MPI_Win_post or MPI_Win_start, mark(MarkExtension) for the program's marks, arguments(ArgumentsExtension) for
// arguments of the next call and context(ContextExtension) for its call stack, in the order of the records. A malformed
// sequence (an extension without its record) is skipped, never read beyond `records`.
template <class OnEvent, class OnCompletion, class OnNeighbour, class OnStarted, class OnSampled = IgnoreSampled,
          class OnGroup = IgnoreGroups, class OnMark = IgnoreMarks, class OnArguments = IgnoreArguments,
          class OnContext = IgnoreContexts>
void for_each_event(std::span<const MpiRecord> records, OnEvent&& event, OnCompletion&& completion,
                    OnNeighbour&& neighbour, OnStarted&& started, OnSampled&& sampled = {}, OnGroup&& group = {},
                    OnMark&& mark = {}, OnArguments&& arguments = {}, OnContext&& context = {}) {
  for (std::size_t i = 0; i < records.size();) {
    const MpiRecord& record = records[i++];
    if (record.shape() == Shape::kCompletion) {
      completion(as<CompletionRecord>(record));
      continue;
    }
    if (record.shape() == Shape::kExtension) {
      if (extension_kind(record) == ExtensionKind::kNeighbourPart) neighbour(as<NeighbourExtension>(record));
      if (extension_kind(record) == ExtensionKind::kStarted) started(as<StartedExtension>(record));
      if (extension_kind(record) == ExtensionKind::kSampled) sampled(as<SampledExtension>(record));
      if (extension_kind(record) == ExtensionKind::kGroup) group(as<GroupExtension>(record));
      if (extension_kind(record) == ExtensionKind::kMark) mark(as<MarkExtension>(record));
      if (extension_kind(record) == ExtensionKind::kArguments) arguments(as<ArgumentsExtension>(record));
      if (extension_kind(record) == ExtensionKind::kContext) context(as<ContextExtension>(record));
      continue;
    }
    MpiEvent full{record, record.duration, record.bytes,
                  goes_both_ways(record.shape()) ? static_cast<std::uint32_t>(record.tag) : 0u, nullptr};
    if (i < records.size() && records[i].shape() == Shape::kExtension &&
        extension_kind(records[i]) == ExtensionKind::kWideValues) {
      const auto wide = as<WideExtension>(records[i++]);
      full.duration = wide.duration;
      full.bytes = wide.bytes;
      full.received = wide.received;
    }
    if (i < records.size() && records[i].shape() == Shape::kExtension &&
        extension_kind(records[i]) == ExtensionKind::kReceiveHalf) {
      full.receive_half = &records[i++];
    }
    event(full);
  }
}

}  // namespace ardoise::instrument
