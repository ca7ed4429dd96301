#include "knowledge_sources/otf2/reader/location_reading.hpp"

#include <fmt/format.h>
#include <otf2/otf2.h>

#include <filesystem>

#include "knowledge_sources/otf2/reader/guarded_reading.hpp"
#include "knowledge_sources/otf2/reader/otf2_errors.hpp"

namespace ardoise::knowledge_sources {
namespace {

// Reads a location's own definitions, with which OTF2 maps its numbers and clock.
std::string read_local_definitions(OTF2_Reader* reader, std::uint64_t location, std::uint64_t count) {
  OTF2_Reader_OpenDefFiles(reader);
  std::string fault;
  if (OTF2_DefReader* const in = OTF2_Reader_GetDefReader(reader, location)) {
    std::uint64_t read = 0;
    if (OTF2_Reader_ReadLocalDefinitions(reader, in, count, &read) != OTF2_SUCCESS) fault = take_otf2_complaint();
    OTF2_Reader_CloseDefReader(reader, in);
  } else {
    fault = take_otf2_complaint();
  }
  OTF2_Reader_CloseDefFiles(reader);
  return fault;
}

}  // namespace

Otf2ReaderHandle open_otf2_reader(const ArchiveAnchor& anchor) {
  (void)take_otf2_complaint();
  Otf2ReaderHandle reader(OTF2_Reader_Open(anchor.file.c_str()));
  if (reader == nullptr)
    throw UnreadableArchive(
        fmt::format("'{}' cannot be opened by OTF2: {}.", anchor.file.string(), take_otf2_complaint()));
  OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());
  return reader;
}

LocationReading::LocationReading(const ArchiveAnchor& anchor, const ArchiveDefinitions& definitions,
                                 const ArchivedLocation& location, bool others_have_definitions,
                                 EventConsumer& consumer)
    : anchor_(anchor),
      definitions_(definitions),
      location_(location),
      others_have_definitions_(others_have_definitions),
      sink_{consumer, location} {}

LocationReading::~LocationReading() { close(); }

void LocationReading::fail(const char* kind, const std::string& detail) {
  if (!result_.fault.empty()) return;
  result_.fault = kind;
  result_.detail = definitions_.place_of(location_);
  if (!detail.empty()) result_.detail += ": " + detail;
}

// False: there is nothing to read.
bool LocationReading::open() {
  const std::filesystem::path file = anchor_.folder / fmt::format("{}.evt", location_.id);
  framing_ = framing_of(file, FramedFile::kEventFile, anchor_.event_chunk_bytes);
  if (!framing_.exists) {
    result_.is_whole = location_.events == 0;
    if (!result_.is_whole) fail("locations without a file of events", "");
    return false;
  }
  result_.is_whole = framing_.is_complete;
  if (!framing_.is_complete)
    fail("locations with incomplete events", fmt::format("'{}' {}, {} of {} events are readable", file.string(),
                                                         framing_.fault, framing_.records, location_.events));
  const RecordFraming own = framing_of(anchor_.folder / fmt::format("{}.def", location_.id),
                                       FramedFile::kDefinitionFile, anchor_.definition_chunk_bytes);
  if (!own.exists && others_have_definitions_)
    fail("locations whose own definitions are missing although others have some: their events may be misinterpreted",
         "");
  if (own.exists && !own.is_complete)
    fail("locations whose own definitions are incomplete: their events may be misinterpreted", own.fault);
  if (!framing_.is_complete && framing_.records == 0) return false;

  reader_ = open_otf2_reader(anchor_);
  OTF2_Reader_SelectLocation(reader_.get(), location_.id);
  if (own.exists) {
    const std::uint64_t count = own.is_complete ? UINT64_MAX : own.records;
    if (const std::string fault = read_local_definitions(reader_.get(), location_.id, count); !fault.empty())
      fail("locations whose own definitions are damaged: their events may be misinterpreted", fault);
  }
  OTF2_Reader_OpenEvtFiles(reader_.get());
  in_ = OTF2_Reader_GetEvtReader(reader_.get(), location_.id);
  if (in_ == nullptr) {
    fail("locations whose events cannot be opened", take_otf2_complaint());
    result_.is_whole = false;
    return false;
  }
  OTF2_EvtReaderCallbacks* const calls = OTF2_EvtReaderCallbacks_New();
  set_event_callbacks(calls);
  OTF2_Reader_RegisterEvtCallbacks(reader_.get(), in_, calls, &sink_);
  OTF2_EvtReaderCallbacks_Delete(calls);
  return true;
}

void LocationReading::close() {
  if (reader_ == nullptr) return;
  if (in_ != nullptr) OTF2_Reader_CloseEvtReader(reader_.get(), in_);
  in_ = nullptr;
  OTF2_Reader_CloseEvtFiles(reader_.get());
  reader_.reset();
}

bool LocationReading::advance(std::uint64_t events) {
  if (has_ended_) return false;
  note_reading("events of", location_.id);
  if (!is_opened_) {
    is_opened_ = true;
    has_ended_ = !open();
    if (has_ended_) {
      close();
      return false;
    }
  }
  // OTF2 must not read beyond the complete records of a truncated file.
  const std::uint64_t most = framing_.is_complete ? events : std::min(events, framing_.records - sink_.position);
  std::uint64_t read = 0;
  const OTF2_ErrorCode code = most == 0 ? OTF2_SUCCESS : OTF2_Reader_ReadLocalEvents(reader_.get(), in_, most, &read);
  if (code == OTF2_SUCCESS && read == events) return true;
  has_ended_ = true;
  if (code != OTF2_SUCCESS) result_.is_whole = false;
  if (code != OTF2_SUCCESS && code != OTF2_ERROR_INTERRUPTED_BY_CALLBACK)
    fail("locations whose events are damaged",
         fmt::format("after {} of {}: {}", sink_.position, location_.events, take_otf2_complaint()));
  (void)take_otf2_complaint();
  close();
  if (result_.is_whole && sink_.position != location_.events)
    fail("locations with an unexpected number of events",
         fmt::format("{} instead of {}", sink_.position, location_.events));
  if (sink_.thrown) std::rethrow_exception(sink_.thrown);
  return false;
}

ReadLocation LocationReading::result() const {
  ReadLocation result = result_;
  result.counts = sink_.counts;
  result.events = sink_.position;
  return result;
}

}  // namespace ardoise::knowledge_sources
