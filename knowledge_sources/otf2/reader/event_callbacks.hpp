// Converts OTF2's events of a location.
#pragma once

#include <otf2/OTF2_EvtReaderCallbacks.h>

#include <exception>
#include <vector>

#include "knowledge_sources/otf2/reader/archived_event.hpp"

namespace ardoise::knowledge_sources {

// Receives events. The events of one location come in order, from one thread.
class EventConsumer {
 public:
  virtual ~EventConsumer() = default;
  // False: the rest of the location is not read.
  [[nodiscard]] virtual bool event(const ArchivedEvent& event) = 0;
};

// Argument of the callbacks.
struct EventSink {
  EventConsumer& consumer;
  const ArchivedLocation& location;
  EventCounts counts{};
  std::uint64_t position = 0, last_time = 0;
  std::vector<ArchivedEvent::Attribute> attributes{};
  std::vector<ArchivedValue> metrics{};
  std::exception_ptr thrown{};  // by the consumer; OTF2 is C
};

// user data: an EventSink.
void set_event_callbacks(OTF2_EvtReaderCallbacks* calls);

}  // namespace ardoise::knowledge_sources
