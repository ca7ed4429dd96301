// Merges the events of all locations by time, for matching events of threads of one process, which share a clock.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "knowledge_sources/otf2/reader/archive_reader.hpp"

namespace ardoise::knowledge_sources {

// All events of an archive: locations side by side, and the events of a process with several locations in order of
// time. A consumer that returns false gets no more.
[[nodiscard]] ArchiveFaults read_in_order(const ArchiveReader& archive, EventConsumer& consumer);
// The same for some locations of one process.
[[nodiscard]] ArchiveFaults read_in_order(const ArchiveReader& archive, EventConsumer& consumer,
                                          std::span<const ArchivedLocation* const> locations);

// Not thread safe. For ArchiveReader::read_side_by_side with one event at a time: the location that is furthest behind
// is advanced, so all others have reached its last time, and events up to that time are passed on. Holds about one
// event for each location. Events of a location stay in order, even if its time decreases.
class TimeOrder : public EventConsumer {
 public:
  explicit TimeOrder(EventConsumer& consumer) : consumer_(consumer) {}

  [[nodiscard]] bool event(const ArchivedEvent& event) override {
    const std::uint64_t before = std::exchange(last_[event.location->id], event.time);
    while (!held_.empty() && held_.top().event.time <= before) pop();
    held_.push({event,
                {event.attributes.begin(), event.attributes.end()},
                {event.metrics.begin(), event.metrics.end()},
                {event.arguments.begin(), event.arguments.end()}});
    return goes_on_;
  }
  void finish() {
    while (!held_.empty()) pop();
  }

 private:
  struct Held {
    ArchivedEvent event;
    std::vector<ArchivedEvent::Attribute> attributes;
    std::vector<ArchivedValue> metrics;
    std::vector<std::uint32_t> arguments;
    friend bool operator>(const Held& a, const Held& b) { return a.key() > b.key(); }
    [[nodiscard]] std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> key() const {
      return {event.time, event.location->id, event.position};
    }
  };
  void pop() {
    const Held& next = held_.top();
    ArchivedEvent event = next.event;
    event.attributes = next.attributes;
    event.metrics = next.metrics;
    event.arguments = next.arguments;
    goes_on_ = goes_on_ && consumer_.event(event);
    held_.pop();
  }

  EventConsumer& consumer_;
  bool goes_on_ = true;                                    // false: the consumer stopped
  std::unordered_map<std::uint64_t, std::uint64_t> last_;  // last time, by location
  std::priority_queue<Held, std::vector<Held>, std::greater<>> held_;
};

}  // namespace ardoise::knowledge_sources
