// See time_order.hpp.
#include "knowledge_sources/trace_reader/time_order.hpp"

namespace ardoise::knowledge_sources {

ArchiveFaults read_in_order(const ArchiveReader& archive, EventConsumer& consumer) {
  if (!archive.definitions().has_threads()) return archive.read_side_by_side(consumer);
  TimeOrder in_order(consumer);
  ArchiveFaults faults = archive.read_side_by_side(in_order, 1);
  in_order.finish();
  return faults;
}

ArchiveFaults read_in_order(const ArchiveReader& archive, EventConsumer& consumer,
                            std::span<const ArchivedLocation* const> locations) {
  if (locations.size() <= 1) return archive.read_side_by_side(consumer, locations, 4096);
  TimeOrder in_order(consumer);
  ArchiveFaults faults = archive.read_side_by_side(in_order, locations, 1);
  in_order.finish();
  return faults;
}

}  // namespace ardoise::knowledge_sources
