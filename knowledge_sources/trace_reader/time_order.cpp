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

}  // namespace ardoise::knowledge_sources
