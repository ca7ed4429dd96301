// Each process is a track, and so is each of its threads (a location). An entered region is a slice; other records in
// it (messages, I/O operations …) are annotations of the slice. A flow connects the slice of a send to that of its
// receive: both ends compute the flow's number from the channel and the message's number on it. Records outside all
// regions are instants.
#include "tools/ardoise/trace/perfetto/trace_perfetto.hpp"

#include <fmt/format.h>
#include <otf2/OTF2_Definitions.h>
#include <otf2/OTF2_Marker.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "knowledge_sources/otf2/reader/event_fields.hpp"
#include "knowledge_sources/otf2/reader/message_tracker.hpp"
#include "knowledge_sources/otf2/reader/time_order.hpp"
#include "tools/ardoise/trace/perfetto/perfetto_writer.hpp"

namespace ardoise::launcher {
namespace {

using namespace knowledge_sources;
using Name = PerfettoWriter::Name;

constexpr std::size_t kMostRecords = 16;  // annotated in one slice

std::string_view category_of(const ArchivedRegion& region) {
  if (region.role == OTF2_REGION_ROLE_FILE_IO || region.role == OTF2_REGION_ROLE_FILE_IO_METADATA) return "io";
  switch (region.paradigm) {
    case OTF2_PARADIGM_MPI:
      return "mpi";
    case OTF2_PARADIGM_OPENMP:
      return "openmp";
    case OTF2_PARADIGM_PTHREAD:
      return "pthread";
    case OTF2_PARADIGM_CUDA:
    case OTF2_PARADIGM_HIP:
    case OTF2_PARADIGM_OPENCL:
    case OTF2_PARADIGM_OPENACC:
      return "accelerator";
    case OTF2_PARADIGM_USER:
      return region.role == OTF2_REGION_ROLE_CODE ? "phase" : "user";
    default:
      return "user";
  }
}

// Hash of 64 bits that identifies a message; uses MurmurHash3's finalizer for each part.
std::uint64_t flow_of(const MessageHalf& half) {
  std::uint64_t hash = 0;
  for (const std::uint64_t part :
       {std::uint64_t{half.channel.comm}, std::uint64_t{half.channel.sender}, std::uint64_t{half.channel.receiver},
        std::uint64_t{half.channel.tag}, half.number}) {
    hash ^= part + 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
    hash ^= hash >> 33;
  }
  return hash == 0 ? 1 : hash;
}

class PerfettoExport : public EventConsumer {
 public:
  PerfettoExport(const ArchiveDefinitions& all, ExportOutput& out)
      : all_(all),
        out_(out),
        writer_(out),
        none_(writer_),
        ranks_(all),
        tracker_(
            all, ranks_, [this](const MessageHalf& half) { take(half); }, [](const MessageHalf&) {}) {
    if (all.clock.begin_realtime_ns != kUndefined64) writer_.clock(all.clock.begin_realtime_ns);
    make_tracks();
  }

  bool event(const ArchivedEvent& event) override {
    Thread& thread = threads_.at(event.location->id);
    calls_.event(event);
    switch (event.kind) {
      case ArchivedKind::kEnter:
      case ArchivedKind::kCallingContextEnter:
        enter(thread, event);
        break;
      case ArchivedKind::kLeave:
      case ArchivedKind::kCallingContextLeave:
        leave(thread, event);
        break;
      case ArchivedKind::kMetric:
        count(thread, event);
        break;
      case ArchivedKind::kParameterInt:
      case ArchivedKind::kParameterString:
      case ArchivedKind::kParameterUnsignedInt:
      case ArchivedKind::kCallingContextSample:
      case ArchivedKind::kMeasurementOnOff:
      case ArchivedKind::kBufferFlush:
        tell_instant(thread, event);
        break;
      default:
        record(thread, event);
        break;
    }
    current_ = &event;
    tracker_.event(event, calls_);
    current_ = nullptr;
    return !out_.failed();
  }

  void finish() {
    tracker_.finish();
    for (auto& [location, thread] : threads_) {
      begin_pending(thread);
      not_left += thread.open.size();
    }
  }
  [[nodiscard]] std::uint64_t packets() const { return writer_.packets(); }
  std::uint64_t not_left = 0, too_early = 0;

 private:
  struct Slice {
    explicit Slice(PerfettoWriter& writer) : notes(writer) {}
    PerfettoNotes notes;  // written at its end
    PerfettoWriter::Flows received;
    std::size_t records = 0;
  };
  // The begin of a slice is written late: it contains the flows of sends, whose records follow it.
  struct Pending {
    std::uint64_t time;
    Name name;
    PerfettoNotes notes;
    PerfettoWriter::Flows sent;
  };
  struct Thread {
    std::uint64_t track = 0;
    std::vector<Slice> open;
    std::optional<Pending> pending;
    std::unordered_map<std::uint64_t, std::uint64_t> counters;  // tracks, by metric and member
  };

  void make_tracks() {
    std::uint64_t track = 1;
    std::int32_t pid = 1;
    writer_.named_track(all_track_ = track++, "whole trace");
    std::unordered_map<std::uint32_t, std::int32_t> pids;
    for (const ArchivedLocationGroup& group : all_.location_groups) {
      processes_.emplace(group.id, track);
      pids.emplace(group.id, pid);
      writer_.process_track(track++, pid++, group.name);
    }
    // A thread with the number of a process would be shown as its main thread.
    std::int64_t tid = pid;
    for (const ArchivedLocation& location : all_.locations) {
      const auto of = pids.find(location.group);
      const auto [found, is_new] = threads_.try_emplace(location.id);
      found->second.track = track;
      writer_.thread_track(track++, of == pids.end() ? 0 : of->second, tid++, location.name);
    }
    next_track_ = track;
    for (const ArchivedMarker& marker : all_.markers) tell_marker(marker);
  }

  void tell_marker(const ArchivedMarker& marker) {
    std::uint64_t track = all_track_;
    if (marker.scope_kind == OTF2_MARKER_SCOPE_LOCATION) {
      if (const auto found = threads_.find(marker.scope); found != threads_.end()) track = found->second.track;
    } else if (marker.scope_kind == OTF2_MARKER_SCOPE_LOCATION_GROUP) {
      if (const auto found = processes_.find(static_cast<std::uint32_t>(marker.scope)); found != processes_.end())
        track = found->second;
    }
    PerfettoNotes notes(writer_);
    notes.text("text", marker.text);
    if (!marker.group.empty()) notes.text("group", marker.group);
    if (marker.duration != 0)
      notes.number("duration_ns",
                   static_cast<std::uint64_t>(all_.clock.nanoseconds(all_.clock.begin + marker.duration)));
    writer_.instant(track, ns(marker.time), writer_.name(marker.category, "marker"), {}, notes);
  }

  std::uint64_t ns(std::uint64_t time) {
    const std::int64_t since_begin = all_.clock.nanoseconds(time);
    too_early += since_begin < 0;
    return since_begin < 0 ? 0 : static_cast<std::uint64_t>(since_begin);
  }

  Name name_of_region(const ArchivedEvent& event) {
    const ArchivedRegion* const region = region_of(all_, event);
    if (region == nullptr) return writer_.name(referred_name(all_, event), "user");
    const auto [found, is_new] = names_.try_emplace(region->id);
    if (is_new) found->second = writer_.name(region->name, category_of(*region), region->source_file, region->line);
    return found->second;
  }

  void put_attributes(PerfettoNotes& notes, const ArchivedEvent& event) const {
    for (const auto& [reference, value] : event.attributes) {
      const ArchivedAttribute* const key = all_.attributes.find(reference);
      const std::string name = key == nullptr ? fmt::format("attribute {}", reference) : key->name;
      if (value.is_real()) {
        notes.real(name, value.as_real());
      } else if (value.is_signed()) {
        notes.signed_number(name, value.as_signed());
      } else if (value.type <= OTF2_TYPE_UINT64) {
        notes.number(name, value.bits);
      } else {
        notes.text(name, all_.text_of(value));
      }
    }
  }

  void put_fields(PerfettoNotes& notes, const ArchivedEvent& event) const {
    const EventFields fields = fields_of(event.kind);
    if (fields.reference != EventFields::Reference::kNone && fields.reference != EventFields::Reference::kRegion)
      notes.text("of", referred_name(all_, event));
    if (fields.has_comm) notes.text("communicator", comm_name(all_, event.comm));
    if (fields.has_peer && event.peer != kUndefined32) notes.number("peer", event.peer);
    if (fields.has_tag) notes.number("tag", event.tag);
    if (fields.has_bytes) notes.number("bytes", event.bytes);
    if (fields.has_bytes_received) notes.number("bytes_received", event.bytes_received);
    if (fields.has_request) notes.number("request", event.request);
    if (fields.has_value && fields.is_value_signed)
      notes.signed_number("value", static_cast<std::int64_t>(event.value));
    if (event.kind == ArchivedKind::kParameterString) {
      notes.text("value", all_.string_of(static_cast<std::uint32_t>(event.value)));
    } else if (fields.has_value && !fields.is_value_signed) {
      notes.number("value", event.value);
    }
    put_attributes(notes, event);
  }

  void begin_pending(Thread& thread) {
    if (!thread.pending) return;
    const Pending& pending = *thread.pending;
    writer_.begin(thread.track, pending.time, pending.name, pending.sent, pending.notes);
    thread.pending.reset();
  }

  void enter(Thread& thread, const ArchivedEvent& event) {
    begin_pending(thread);
    thread.pending.emplace(Pending{ns(event.time), name_of_region(event), PerfettoNotes(writer_), {}});
    put_attributes(thread.pending->notes, event);
    thread.open.emplace_back(writer_);
  }

  void leave(Thread& thread, const ArchivedEvent& event) {
    begin_pending(thread);
    if (thread.open.empty()) return;
    Slice& slice = thread.open.back();
    if (slice.records > kMostRecords) slice.notes.number("more_records", slice.records - kMostRecords);
    put_attributes(slice.notes, event);
    writer_.end(thread.track, ns(event.time), slice.received, slice.notes);
    thread.open.pop_back();
  }

  // Adds a record within a region.
  void record(Thread& thread, const ArchivedEvent& event) {
    if (event.kind == ArchivedKind::kMpiCollectiveBegin || event.kind == ArchivedKind::kRmaCollectiveBegin) return;
    if (!thread.open.empty() && ++thread.open.back().records > kMostRecords) return;
    PerfettoNotes notes(writer_);
    put_fields(notes, event);
    if (!thread.open.empty()) {
      thread.open.back().notes.group(name_of(event.kind), notes);
    } else {
      writer_.instant(thread.track, ns(event.time), writer_.name(name_of(event.kind), "event"), {}, notes);
    }
  }

  void tell_instant(Thread& thread, const ArchivedEvent& event) {
    begin_pending(thread);
    PerfettoNotes notes(writer_);
    put_fields(notes, event);
    const bool is_sample = event.kind == ArchivedKind::kCallingContextSample;
    const bool is_parameter = fields_of(event.kind).reference == EventFields::Reference::kParameter;
    const std::string name = is_sample || is_parameter ? referred_name(all_, event) : std::string(name_of(event.kind));
    writer_.instant(thread.track, ns(event.time),
                    writer_.name(name, is_sample      ? "sample"
                                       : is_parameter ? "parameter"
                                                      : "event"),
                    {}, notes);
  }

  void count(Thread& thread, const ArchivedEvent& event) {
    const auto members = all_.metric_members_of(event.reference);
    for (std::size_t i = 0; i < event.metrics.size(); ++i) {
      const auto [found, is_new] = thread.counters.try_emplace(std::uint64_t{event.reference} << 8 | i, next_track_);
      if (is_new) {
        const ArchivedMetricMember* const member = i < members.size() ? all_.metric_members.find(members[i]) : nullptr;
        writer_.counter_track(next_track_++, thread.track,
                              member == nullptr ? fmt::format("metric {}", event.reference) : member->name,
                              member == nullptr ? "" : member->unit);
      }
      const ArchivedValue& value = event.metrics[i];
      if (value.is_real()) {
        writer_.counter(found->second, ns(event.time), value.as_real());
      } else {
        writer_.counter(found->second, ns(event.time), value.as_signed());
      }
    }
  }

  // Handles an end of a message, at once or when its number is known.
  void take(const MessageHalf& half) {
    Thread& thread = threads_.at(half.location->id);
    const bool is_now =
        current_ != nullptr && current_->location == half.location && current_->position == half.position;
    if (is_now && half.is_send && thread.pending) {
      thread.pending->sent.push_back(flow_of(half));
    } else if (is_now && !half.is_send && !thread.open.empty()) {
      thread.open.back().received.push_back(flow_of(half));
    } else {
      writer_.instant(thread.track, ns(half.time), writer_.name(half.is_send ? "sends" : "receives", "message"),
                      {flow_of(half)}, none_);
    }
  }

  const ArchiveDefinitions& all_;
  ExportOutput& out_;
  PerfettoWriter writer_;
  PerfettoNotes none_;
  CommRanks ranks_;
  OpenCalls calls_;
  MessageTracker tracker_;
  const ArchivedEvent* current_ = nullptr;                      // given to the tracker
  std::unordered_map<std::uint64_t, Thread> threads_;           // by location
  std::unordered_map<std::uint32_t, std::uint64_t> processes_;  // tracks, by location group
  std::unordered_map<std::uint32_t, Name> names_;               // by region
  std::uint64_t all_track_ = 0, next_track_ = 0;
};

}  // namespace

ExportedTrace write_perfetto(const ArchiveReader& archive, ExportOutput& out) {
  PerfettoExport made(archive.definitions(), out);
  ExportedTrace exported{0, 0, archive.definitions().faults};
  exported.faults.merge(read_in_order(archive, made));
  made.finish();
  if (made.too_early != 0)
    exported.faults.add("times before the begin of the trace, which are shown at its begin", "", made.too_early);
  exported.rows = made.packets();
  exported.left_out = made.not_left;
  return exported;
}

}  // namespace ardoise::launcher
