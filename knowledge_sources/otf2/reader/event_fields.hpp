// Which fields of an event mean something, for what prints or writes all kinds of events alike.
#pragma once

#include <cstdint>
#include <string>

#include "knowledge_sources/otf2/reader/archived_event.hpp"

namespace ardoise::knowledge_sources {

struct EventFields {
  enum class Reference : std::uint8_t {
    kNone,
    kRegion,
    kMetric,
    kParameter,
    kWindow,
    kHandle,
    kFile,
    kCallingContext,
    kLock,
    kString
  };
  Reference reference = Reference::kNone;
  bool has_comm = false, has_peer = false, has_tag = false, has_bytes = false, has_bytes_received = false,
       has_request = false, has_value = false, is_value_signed = false;
};
[[nodiscard]] EventFields fields_of(ArchivedKind kind);

// What the reference of an event names: a region, a metric, a file …; "" where it has none.
[[nodiscard]] std::string referred_name(const ArchiveDefinitions& definitions, const ArchivedEvent& event);
// Likewise of its communicator.
[[nodiscard]] std::string comm_name(const ArchiveDefinitions& definitions, std::uint32_t comm);
// The region of an Enter, a Leave or an event with a calling context; nullptr: none.
[[nodiscard]] const ArchivedRegion* region_of(const ArchiveDefinitions& definitions, const ArchivedEvent& event);

}  // namespace ardoise::knowledge_sources
