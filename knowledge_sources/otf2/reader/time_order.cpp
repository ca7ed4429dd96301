#include "knowledge_sources/otf2/reader/time_order.hpp"

namespace ardoise::knowledge_sources {

namespace {

// read(consumer): passes one event at a time of the location that is furthest behind.
ArchiveFaults read_by_time(EventConsumer& consumer, const auto& read) {
  TimeOrder in_order(consumer);
  ArchiveFaults faults = read(in_order);
  in_order.finish();
  return faults;
}

}  // namespace

ArchiveFaults read_in_order(const ArchiveReader& archive, EventConsumer& consumer) {
  if (!archive.definitions().has_threads()) return archive.read_side_by_side(consumer);
  return read_by_time(consumer, [&](EventConsumer& in_order) { return archive.read_side_by_side(in_order, 1); });
}

ArchiveFaults read_in_order(const ArchiveReader& archive, EventConsumer& consumer,
                            std::span<const ArchivedLocation* const> locations) {
  if (locations.size() <= 1) return archive.read_side_by_side(consumer, locations, 4096);
  return read_by_time(consumer,
                      [&](EventConsumer& in_order) { return archive.read_side_by_side(in_order, locations, 1); });
}

}  // namespace ardoise::knowledge_sources
