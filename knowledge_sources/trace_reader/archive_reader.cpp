// See archive_reader.hpp.
#include "knowledge_sources/trace_reader/archive_reader.hpp"

#include <fmt/format.h>
#include <otf2/otf2.h>

#include <memory>
#include <system_error>

#include "knowledge_sources/trace_reader/definition_callbacks.hpp"
#include "knowledge_sources/trace_reader/guarded_reading.hpp"
#include "knowledge_sources/trace_reader/otf2_errors.hpp"
#include "knowledge_sources/trace_reader/record_framing.hpp"

namespace ardoise::knowledge_sources {
namespace {

namespace fs = std::filesystem;

struct CloseReader {
  void operator()(OTF2_Reader* reader) const { OTF2_Reader_Close(reader); }
};
using ReaderHandle = std::unique_ptr<OTF2_Reader, CloseReader>;

// Throws UnreadableArchive.
ReaderHandle open_reader(const ArchiveAnchor& anchor) {
  keep_otf2_complaints();
  ReaderHandle reader(OTF2_Reader_Open(anchor.file.c_str()));
  if (reader == nullptr)
    throw UnreadableArchive(
        fmt::format("'{}' cannot be opened by OTF2: {}.", anchor.file.string(), take_otf2_complaint()));
  OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());
  return reader;
}

// Reads a location's own definitions, so that OTF2 knows how its numbers and clock are to be changed.
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

ArchiveReader::ArchiveReader(const fs::path& path) : anchor_(find_archive(path)) {
  if (anchor_.major > OTF2_VERSION_MAJOR)
    definitions_.faults.add(fmt::format("written by OTF2 {}.{}, of which this version, {}.{}, may not know all",
                                        unsigned{anchor_.major}, unsigned{anchor_.minor}, OTF2_VERSION_MAJOR,
                                        OTF2_VERSION_MINOR));
  read_definitions();
}

void ArchiveReader::read_definitions() {
  note_reading("its global definitions");
  const fs::path& file = anchor_.definitions;
  const RecordFraming framing = framing_of(file, FramedFile::kDefinitions, anchor_.definition_chunk_bytes);
  if (!framing.exists || (!framing.is_complete && framing.records == 0))
    throw UnreadableArchive(fmt::format("'{}' {}: without it nothing in '{}' has a meaning.", file.string(),
                                        framing.exists ? framing.fault : "is missing", anchor_.file.string()));
  if (!framing.is_complete)
    definitions_.faults.add(
        "global definitions that are not whole",
        fmt::format("'{}' {} after {} of {}", file.string(), framing.fault, framing.records, anchor_.definition_count));
  const std::uint64_t count = framing.is_complete ? UINT64_MAX : framing.records;
  (void)read_global_definitions(open_reader(anchor_).get(), DefinitionTurn::kStrings, count, definitions_);
  const std::uint64_t read =
      read_global_definitions(open_reader(anchor_).get(), DefinitionTurn::kOthers, count, definitions_);
  if (framing.is_complete && read != anchor_.definition_count && definitions_.faults.empty())
    definitions_.faults.add("a wrong number of global definitions",
                            fmt::format("{}, and {} are announced", read, anchor_.definition_count));
  read_marker_file();
  definitions_.finish();
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(anchor_.folder, ignored)) {
    has_local_definitions_ = entry.path().extension() == ".def";
    if (has_local_definitions_) break;
  }
}

void ArchiveReader::read_marker_file() {
  note_reading("its markers");
  const RecordFraming framing = framing_of(anchor_.markers, FramedFile::kDefinitions, anchor_.definition_chunk_bytes);
  if (!framing.exists) return;
  const std::string fault =
      read_markers(open_reader(anchor_).get(), framing.is_complete ? UINT64_MAX : framing.records, definitions_);
  if (!fault.empty() || !framing.is_complete)
    definitions_.faults.add("markers that cannot be read", fault.empty() ? framing.fault : fault);
}

ReadLocation ArchiveReader::read(const ArchivedLocation& location, EventConsumer& consumer) const {
  ReadLocation result;
  const auto fail = [&](const char* kind, const std::string& detail) {
    if (!result.fault.empty()) return;
    result.fault = kind;
    result.detail = detail.empty() ? definitions_.place_of(location)
                                   : fmt::format("{}: {}", definitions_.place_of(location), detail);
  };
  note_reading("events of", location.id);
  const fs::path file = anchor_.folder / fmt::format("{}.evt", location.id);
  const RecordFraming framing = framing_of(file, FramedFile::kEvents, anchor_.event_chunk_bytes);
  if (!framing.exists) {
    result.is_whole = location.events == 0;
    if (!result.is_whole) fail("locations without a file of events", "");
    return result;
  }
  result.is_whole = framing.is_complete;
  if (!framing.is_complete)
    fail("locations whose events are not whole", fmt::format("'{}' {}, {} of {} events are there", file.string(),
                                                             framing.fault, framing.records, location.events));
  const RecordFraming own = framing_of(anchor_.folder / fmt::format("{}.def", location.id), FramedFile::kDefinitions,
                                       anchor_.definition_chunk_bytes);
  if (!own.exists && has_local_definitions_)
    fail("locations whose own definitions are missing, though others have some: what their events mean may be wrong",
         "");
  if (own.exists && !own.is_complete)
    fail("locations whose own definitions are not whole: what their events mean may be wrong", own.fault);
  if (!framing.is_complete && framing.records == 0) return result;

  const ReaderHandle reader = open_reader(anchor_);
  OTF2_Reader_SelectLocation(reader.get(), location.id);
  if (own.exists) {
    const std::uint64_t count = own.is_complete ? UINT64_MAX : own.records;
    if (const std::string fault = read_local_definitions(reader.get(), location.id, count); !fault.empty())
      fail("locations whose own definitions are damaged: what their events mean may be wrong", fault);
  }
  OTF2_Reader_OpenEvtFiles(reader.get());
  OTF2_EvtReader* const in = OTF2_Reader_GetEvtReader(reader.get(), location.id);
  if (in == nullptr) {
    fail("locations whose events cannot be opened", take_otf2_complaint());
    result.is_whole = false;
    OTF2_Reader_CloseEvtFiles(reader.get());
    return result;
  }
  EventSink sink{consumer, {}, 0, {}, {}, nullptr};
  OTF2_EvtReaderCallbacks* const calls = OTF2_EvtReaderCallbacks_New();
  set_event_callbacks(calls);
  OTF2_Reader_RegisterEvtCallbacks(reader.get(), in, calls, &sink);
  OTF2_EvtReaderCallbacks_Delete(calls);
  std::uint64_t read = 0;
  const OTF2_ErrorCode code =
      OTF2_Reader_ReadLocalEvents(reader.get(), in, framing.is_complete ? UINT64_MAX : framing.records, &read);
  const std::string complaint = take_otf2_complaint();
  OTF2_Reader_CloseEvtReader(reader.get(), in);
  OTF2_Reader_CloseEvtFiles(reader.get());
  if (sink.thrown) std::rethrow_exception(sink.thrown);
  result.counts = sink.counts;
  result.events = sink.position;
  const bool is_interrupted = code == OTF2_ERROR_INTERRUPTED_BY_CALLBACK;
  if (code != OTF2_SUCCESS && !is_interrupted)
    fail("locations whose events are damaged",
         fmt::format("after {} of {}: {}", sink.position, location.events, complaint));
  if (code != OTF2_SUCCESS) result.is_whole = false;
  if (result.is_whole && result.events != location.events)
    fail("locations with another number of events than they are said to have",
         fmt::format("{} instead of {}", result.events, location.events));
  return result;
}

}  // namespace ardoise::knowledge_sources
