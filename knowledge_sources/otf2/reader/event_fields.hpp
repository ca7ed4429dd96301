// Valid fields of an event, for code that prints or writes all kinds of events alike.
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

// Name of the event's reference: a region, a metric, a file …; "" if it has none.
[[nodiscard]] std::string referred_name(const ArchiveDefinitions& definitions, const ArchivedEvent& event);
// Name of a communicator.
[[nodiscard]] std::string comm_name(const ArchiveDefinitions& definitions, std::uint32_t comm);
// The region of an Enter, a Leave or an event with a calling context; nullptr: none.
[[nodiscard]] const ArchivedRegion* region_of(const ArchiveDefinitions& definitions, const ArchivedEvent& event);

}  // namespace ardoise::knowledge_sources
