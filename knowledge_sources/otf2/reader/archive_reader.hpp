// Reads an OTF2 archive of any writer. Opening reads the definitions, which stay in memory; events are read one
// location at a time, in memory independent of the archive's size (OTF2 holds two chunks of a file, at most 2 · 16
// MiB), and passed to a consumer.
//
//   const ArchiveReader archive("ardoise-report");            // throws UnreadableArchive
//   for (const ArchivedLocation& location : archive.definitions().locations) {
//     const ReadLocation read = archive.read(location, consumer);
//     if (!read.fault.empty()) …
//   }
//
// OTF2 maps the numbers in events to global definitions and applies clock offsets, with the location's own definitions.
// A broken archive is read as far as possible, and its errors are reported. OTF2 itself can crash on files that are
// damaged inside: commands that read archives of unknown origin use guarded_reading.hpp.
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

// Thread safe once made: threads may read different locations, or the same one, concurrently; each reading opens the
// archive itself, as OTF2 requires.
class ArchiveReader {
 public:
  // path: traces.otf2, its folder, or a report's. Throws UnreadableArchive if nothing can be read.
  explicit ArchiveReader(const std::filesystem::path& path);

  [[nodiscard]] const ArchiveDefinitions& definitions() const { return definitions_; }
  [[nodiscard]] const ArchiveAnchor& anchor() const { return anchor_; }

  // Throws what the consumer throws.
  [[nodiscard]] ReadLocation read(const ArchivedLocation& location, EventConsumer& consumer) const;
  // All locations side by side, for matching events across locations: the location that is furthest behind in time is
  // advanced, 256 events at a time. If there are more than may be open, or than 384 MiB allow, the remaining ones are
  // read when others have ended. A consumer that returns false gets no more of that location.
  [[nodiscard]] ArchiveFaults read_side_by_side(EventConsumer& consumer, std::uint64_t turn_events = 256) const;
  // The same for these locations, with this many events at a time.
  [[nodiscard]] ArchiveFaults read_side_by_side(EventConsumer& consumer,
                                                std::span<const ArchivedLocation* const> locations,
                                                std::uint64_t turn_events = 256) const;

 private:
  void read_definitions();
  void read_marker_file();

  ArchiveAnchor anchor_;
  ArchiveDefinitions definitions_;
  bool has_local_definitions_ = false;  // of any location
};

}  // namespace ardoise::knowledge_sources
