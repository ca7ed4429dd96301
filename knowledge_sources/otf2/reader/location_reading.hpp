// Reads the events of one location piece by piece, for ArchiveReader.
#pragma once

#include <otf2/OTF2_Reader.h>

#include <cstdint>
#include <memory>
#include <string>

#include "knowledge_sources/otf2/reader/archive_anchor.hpp"
#include "knowledge_sources/otf2/reader/archive_definitions.hpp"
#include "knowledge_sources/otf2/reader/event_callbacks.hpp"
#include "knowledge_sources/otf2/reader/record_framing.hpp"

namespace ardoise::knowledge_sources {

struct ReadLocation {
  EventCounts counts{};      // events passed to the consumer, by kind
  std::uint64_t events = 0;  // sum of counts
  bool is_whole = true;      // all events of the file; false also if the consumer stopped
  // The kind of fault, or "": "locations whose events are cut off". detail: of this location.
  std::string fault, detail;
};

struct CloseOtf2Reader {
  void operator()(OTF2_Reader* reader) const { OTF2_Reader_Close(reader); }
};
using Otf2ReaderHandle = std::unique_ptr<OTF2_Reader, CloseOtf2Reader>;
// Throws UnreadableArchive.
[[nodiscard]] Otf2ReaderHandle open_otf2_reader(const ArchiveAnchor& anchor);

// Not thread safe; several threads may read one archive with an object each. Keeps one file open from the first
// advance() to the last event.
class LocationReading {
 public:
  // others_have_definitions: the archive has local definitions of some location. All arguments must outlive it.
  LocationReading(const ArchiveAnchor& anchor, const ArchiveDefinitions& definitions, const ArchivedLocation& location,
                  bool others_have_definitions, EventConsumer& consumer);
  ~LocationReading();
  LocationReading(const LocationReading&) = delete;
  LocationReading& operator=(const LocationReading&) = delete;

  // Passes up to this many events to the consumer. False: none are left. Throws what the consumer throws.
  [[nodiscard]] bool advance(std::uint64_t events = UINT64_MAX);
  [[nodiscard]] std::uint64_t last_time() const { return sink_.last_time; }  // of the last event passed on
  // After advance() has returned false.
  [[nodiscard]] ReadLocation result() const;

 private:
  [[nodiscard]] bool open();
  void close();
  void fail(const char* kind, const std::string& detail);

  const ArchiveAnchor& anchor_;
  const ArchiveDefinitions& definitions_;
  const ArchivedLocation& location_;
  bool others_have_definitions_, is_opened_ = false, has_ended_ = false;
  RecordFraming framing_;
  Otf2ReaderHandle reader_;
  OTF2_EvtReader* in_ = nullptr;
  EventSink sink_;
  ReadLocation result_;
};

}  // namespace ardoise::knowledge_sources
