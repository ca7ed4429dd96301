// Makes events of what OTF2 reads of a location.
#pragma once

#include <otf2/OTF2_EvtReaderCallbacks.h>

#include <exception>
#include <vector>

#include "knowledge_sources/otf2/reader/archived_event.hpp"

namespace ardoise::knowledge_sources {

// What is done with events. One location's events come in their order, from one thread.
class EventConsumer {
 public:
  virtual ~EventConsumer() = default;
  // False: enough, the rest of the location is not read.
  [[nodiscard]] virtual bool event(const ArchivedEvent& event) = 0;
};

// What the callbacks get.
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
