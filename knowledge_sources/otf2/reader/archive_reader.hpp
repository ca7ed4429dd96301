// Reads an archive of OTF2, whoever wrote it. Opening reads what its numbers mean, which stays in memory; events are
// read a location at a time, in bounded memory, whatever the size of the archive (OTF2 holds two chunks of a file, at
// most 2 · 16 MiB), and given to a consumer.
//
//   const ArchiveReader archive("ardoise-report");            // throws UnreadableArchive
//   for (const ArchivedLocation& location : archive.definitions().locations) {
//     const ReadLocation read = archive.read(location, consumer);
//     if (!read.fault.empty()) …
//   }
//
// Numbers in events are those of the global definitions, and clock offsets are applied: OTF2 does both with the
// location's own definitions. A broken archive is read as far as it goes, and what is wrong in it is said. OTF2 itself
// can crash on files that are damaged inside: guarded_reading.hpp is for commands that read what they were given.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "knowledge_sources/otf2/reader/archive_anchor.hpp"
#include "knowledge_sources/otf2/reader/archive_definitions.hpp"
#include "knowledge_sources/otf2/reader/archived_event.hpp"
#include "knowledge_sources/otf2/reader/event_callbacks.hpp"
#include "knowledge_sources/otf2/reader/location_reading.hpp"

namespace ardoise::knowledge_sources {

// Thread safe once it is made: threads may read different locations, or the same one, at the same time; each reading
// opens the archive for itself, as OTF2 wants it.
class ArchiveReader {
 public:
  // path: traces.otf2, its folder, or a report's. Throws UnreadableArchive where nothing can be read.
  explicit ArchiveReader(const std::filesystem::path& path);

  [[nodiscard]] const ArchiveDefinitions& definitions() const { return definitions_; }
  [[nodiscard]] const ArchiveAnchor& anchor() const { return anchor_; }

  // Throws what the consumer throws.
  [[nodiscard]] ReadLocation read(const ArchivedLocation& location, EventConsumer& consumer) const;
  // All locations side by side, for what matches events of one with those of another: the one that is furthest behind
  // in time is read on, 256 events at a time. Where they are more than may be open at a time, or than 384 MiB allow,
  // those that are left are read when the others have ended. A consumer that has enough has enough of that location.
  [[nodiscard]] ArchiveFaults read_side_by_side(EventConsumer& consumer, std::uint64_t turn_events = 256) const;
  // Likewise these, so many events at a time.
  [[nodiscard]] ArchiveFaults read_side_by_side(EventConsumer& consumer,
                                                std::span<const ArchivedLocation* const> locations,
                                                std::uint64_t turn_events = 256) const;

 private:
  void read_definitions();
  void read_marker_file();

  ArchiveAnchor anchor_;
  ArchiveDefinitions definitions_;
  bool has_local_definitions_ = false;  // any location's
};

}  // namespace ardoise::knowledge_sources
