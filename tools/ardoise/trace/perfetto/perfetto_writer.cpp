#include "tools/ardoise/trace/perfetto/perfetto_writer.hpp"

#include <fmt/format.h>

#include "reports/text/utf8.hpp"

namespace ardoise::launcher {
namespace {

// Field numbers, by message.
namespace trace_fields {
constexpr std::uint32_t kPacket = 1;
}
namespace packet_fields {
constexpr std::uint32_t kClockSnapshot = 6, kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInternedData = 12,
                        kSequenceFlags = 13, kTrackDescriptor = 60, kFirstOnSequence = 87;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;  // flags
}  // namespace packet_fields
namespace track_event_fields {
constexpr std::uint32_t kCategory = 3, kDebugAnnotation = 4, kType = 9, kName = 10, kTrack = 11, kCounterValue = 30,
                        kSourceLocation = 34, kDoubleCounterValue = 44, kFlow = 47;
constexpr std::uint32_t kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4;  // types
}  // namespace track_event_fields
namespace interned_data_fields {
constexpr std::uint32_t kCategory = 1, kName = 2, kAnnotationName = 3, kSourceLocation = 4, kAnnotationText = 29;
}
namespace interned_fields {  // EventCategory, EventName, DebugAnnotationName, InternedString
constexpr std::uint32_t kNumber = 1, kText = 2;
}
namespace source_location_fields {
constexpr std::uint32_t kNumber = 1, kFile = 2, kLine = 4;
}
namespace annotation_fields {
constexpr std::uint32_t kName = 1, kUint = 3, kInt = 4, kDouble = 5, kText = 6, kEntry = 11, kInternedText = 17;
}
namespace descriptor_fields {
constexpr std::uint32_t kTrack = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
}
namespace process_fields {
constexpr std::uint32_t kPid = 1, kName = 6;
}
namespace thread_fields {
constexpr std::uint32_t kPid = 1, kTid = 2, kName = 5;
}
namespace counter_descriptor_fields {
constexpr std::uint32_t kUnitName = 6;
}
namespace clock_snapshot_fields {
constexpr std::uint32_t kClock = 1, kId = 1, kTimestamp = 2;
constexpr std::uint64_t kRealtime = 1, kBoottime = 6;  // the default clock of packets
}  // namespace clock_snapshot_fields

constexpr std::uint64_t kOneSequence = 1;
constexpr std::size_t kLongText = 256;     // longer texts are written inline, not once
constexpr std::size_t kManyTexts = 65536;  // likewise all further texts

}  // namespace

ProtoMessage PerfettoNotes::begin(std::string_view name) {
  ProtoMessage note;
  note.number(annotation_fields::kName,
              writer_.interned(writer_.note_names_, interned_data_fields::kAnnotationName, name));
  return note;
}
void PerfettoNotes::number(std::string_view name, std::uint64_t value) {
  ProtoMessage note = begin(name);
  note.number(annotation_fields::kUint, value);
  notes_.push_back(note.bytes());
}
void PerfettoNotes::signed_number(std::string_view name, std::int64_t value) {
  ProtoMessage note = begin(name);
  note.signed_number(annotation_fields::kInt, value);
  notes_.push_back(note.bytes());
}
void PerfettoNotes::real(std::string_view name, double value) {
  ProtoMessage note = begin(name);
  note.real(annotation_fields::kDouble, value);
  notes_.push_back(note.bytes());
}
void PerfettoNotes::text(std::string_view name, std::string_view value) {
  ProtoMessage note = begin(name);
  const std::string valid = reports::valid_utf8(value);
  if (valid.size() > kLongText || writer_.texts_.size() > kManyTexts) {
    note.text(annotation_fields::kText, valid);
  } else {
    note.number(annotation_fields::kInternedText,
                writer_.interned(writer_.texts_, interned_data_fields::kAnnotationText, valid));
  }
  notes_.push_back(note.bytes());
}
void PerfettoNotes::group(std::string_view name, const PerfettoNotes& notes) {
  ProtoMessage note = begin(name);
  for (const std::string& each : notes.notes_) note.text(annotation_fields::kEntry, each);
  notes_.push_back(note.bytes());
}

PerfettoWriter::PerfettoWriter(ExportOutput& out) : out_(out) {
  ProtoMessage first;
  first.number(packet_fields::kSequence, kOneSequence);
  first.number(packet_fields::kSequenceFlags, packet_fields::kStateCleared);
  first.number(packet_fields::kFirstOnSequence, 1);
  packet(first);
}

void PerfettoWriter::packet(const ProtoMessage& packet) {
  ProtoMessage trace_part;
  trace_part.message(trace_fields::kPacket, packet);
  out_.append(trace_part.bytes());
  ++packets_;
}

std::uint64_t PerfettoWriter::interned(Numbers& numbers, std::uint32_t field, std::string_view text) {
  const auto [found, is_new] = numbers.try_emplace(std::string(text), numbers.size() + 1);
  if (!is_new) return found->second;
  ProtoMessage entry;
  entry.number(interned_fields::kNumber, found->second);
  entry.text(interned_fields::kText, reports::valid_utf8(text));
  new_interned_.message(field, entry);
  return found->second;
}

PerfettoWriter::Name PerfettoWriter::name(std::string_view name, std::string_view category, std::string_view file,
                                          std::uint32_t line) {
  Name made;
  made.name = interned(names_, interned_data_fields::kName, name);
  made.category = interned(categories_, interned_data_fields::kCategory, category);
  if (file.empty()) return made;
  const auto [found, is_new] = sources_.try_emplace(fmt::format("{}:{}", file, line), sources_.size() + 1);
  made.source = found->second;
  if (!is_new) return made;
  ProtoMessage entry;
  entry.number(source_location_fields::kNumber, found->second);
  entry.text(source_location_fields::kFile, reports::valid_utf8(file));
  if (line != 0) entry.number(source_location_fields::kLine, line);
  new_interned_.message(interned_data_fields::kSourceLocation, entry);
  return made;
}

void PerfettoWriter::clock(std::uint64_t realtime_ns) {
  ProtoMessage snapshot;
  for (const auto& [id, time] : {std::pair(clock_snapshot_fields::kBoottime, std::uint64_t{0}),
                                 std::pair(clock_snapshot_fields::kRealtime, realtime_ns)}) {
    ProtoMessage clock;
    clock.number(clock_snapshot_fields::kId, id);
    clock.number(clock_snapshot_fields::kTimestamp, time);
    snapshot.message(clock_snapshot_fields::kClock, clock);
  }
  ProtoMessage all;
  all.number(packet_fields::kTimestamp, 0);
  all.number(packet_fields::kSequence, kOneSequence);
  all.message(packet_fields::kClockSnapshot, snapshot);
  packet(all);
}

void PerfettoWriter::descriptor(const ProtoMessage& descriptor) {
  ProtoMessage all;
  all.number(packet_fields::kSequence, kOneSequence);
  all.message(packet_fields::kTrackDescriptor, descriptor);
  packet(all);
}

void PerfettoWriter::process_track(std::uint64_t track, std::int32_t pid, std::string_view name) {
  ProtoMessage process, all;
  process.signed_number(process_fields::kPid, pid);
  process.text(process_fields::kName, reports::valid_utf8(name));
  all.number(descriptor_fields::kTrack, track);
  all.message(descriptor_fields::kProcess, process);
  descriptor(all);
}

void PerfettoWriter::thread_track(std::uint64_t track, std::int32_t pid, std::int64_t tid, std::string_view name) {
  ProtoMessage thread, all;
  thread.signed_number(thread_fields::kPid, pid);
  thread.signed_number(thread_fields::kTid, tid);
  thread.text(thread_fields::kName, reports::valid_utf8(name));
  all.number(descriptor_fields::kTrack, track);
  all.message(descriptor_fields::kThread, thread);
  descriptor(all);
}

void PerfettoWriter::counter_track(std::uint64_t track, std::uint64_t parent, std::string_view name,
                                   std::string_view unit) {
  ProtoMessage counter, all;
  if (!unit.empty()) counter.text(counter_descriptor_fields::kUnitName, reports::valid_utf8(unit));
  all.number(descriptor_fields::kTrack, track);
  all.number(descriptor_fields::kParent, parent);
  all.text(descriptor_fields::kName, reports::valid_utf8(name));
  all.message(descriptor_fields::kCounter, counter);
  descriptor(all);
}

void PerfettoWriter::named_track(std::uint64_t track, std::string_view name) {
  ProtoMessage all;
  all.number(descriptor_fields::kTrack, track);
  all.text(descriptor_fields::kName, reports::valid_utf8(name));
  descriptor(all);
}

void PerfettoWriter::track_event(std::uint64_t time, const ProtoMessage& event) {
  ProtoMessage all;
  all.number(packet_fields::kTimestamp, time);
  all.number(packet_fields::kSequence, kOneSequence);
  all.number(packet_fields::kSequenceFlags, packet_fields::kNeedsState);
  if (!new_interned_.empty()) {
    all.message(packet_fields::kInternedData, new_interned_);
    new_interned_.clear();
  }
  all.message(packet_fields::kTrackEvent, event);
  packet(all);
}

void PerfettoWriter::event(std::uint32_t type, std::uint64_t track, std::uint64_t time, const Name& name,
                           const Flows& flows, const PerfettoNotes& notes) {
  ProtoMessage event;
  event.number(track_event_fields::kType, type);
  event.number(track_event_fields::kTrack, track);
  if (name.category != 0) event.number(track_event_fields::kCategory, name.category);
  if (name.name != 0) event.number(track_event_fields::kName, name.name);
  if (name.source != 0) event.number(track_event_fields::kSourceLocation, name.source);
  for (const std::uint64_t flow : flows) event.fixed64(track_event_fields::kFlow, flow);
  for (const std::string& note : notes.notes_) event.text(track_event_fields::kDebugAnnotation, note);
  track_event(time, event);
}

void PerfettoWriter::begin(std::uint64_t track, std::uint64_t time, const Name& name, const Flows& flows,
                           const PerfettoNotes& notes) {
  event(track_event_fields::kSliceBegin, track, time, name, flows, notes);
}
void PerfettoWriter::end(std::uint64_t track, std::uint64_t time, const Flows& flows, const PerfettoNotes& notes) {
  event(track_event_fields::kSliceEnd, track, time, {}, flows, notes);
}
void PerfettoWriter::instant(std::uint64_t track, std::uint64_t time, const Name& name, const Flows& flows,
                             const PerfettoNotes& notes) {
  event(track_event_fields::kInstant, track, time, name, flows, notes);
}

void PerfettoWriter::counter(std::uint64_t track, std::uint64_t time, std::int64_t value) {
  ProtoMessage event;
  event.number(track_event_fields::kType, track_event_fields::kCounter);
  event.number(track_event_fields::kTrack, track);
  event.signed_number(track_event_fields::kCounterValue, value);
  track_event(time, event);
}
void PerfettoWriter::counter(std::uint64_t track, std::uint64_t time, double value) {
  ProtoMessage event;
  event.number(track_event_fields::kType, track_event_fields::kCounter);
  event.number(track_event_fields::kTrack, track);
  event.real(track_event_fields::kDoubleCounterValue, value);
  track_event(time, event);
}

}  // namespace ardoise::launcher
