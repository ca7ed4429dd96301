#include "tools/ardoise/trace/trace_tables.hpp"

#include <fmt/format.h>
#include <otf2/OTF2_Definitions.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "knowledge_sources/otf2/reader/event_fields.hpp"
#include "knowledge_sources/otf2/reader/message_matcher.hpp"
#include "knowledge_sources/otf2/reader/time_order.hpp"
#include "reports/text/utf8.hpp"
#include "tools/ardoise/common/shown_text.hpp"

namespace ardoise::launcher {
namespace {

using namespace knowledge_sources;

// Writes one row at a time.
class CsvRow {
 public:
  explicit CsvRow(ExportOutput& out) : out_(out) {}
  void text(std::string_view value) {
    begin();
    // Most values need no quotes.
    const bool is_plain =
        std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c != ',' && c != '"'; });
    if (is_plain) {
      text_ += value;
    } else {
      text_ += csv_field(value);
    }
  }
  template <class Number>
  void number(Number value) {
    begin();
    text_ += std::to_string(value);
  }
  // Writes an empty field if there is no value.
  void optional(bool has_value, std::uint64_t value) {
    begin();
    if (has_value) text_ += std::to_string(value);
  }
  // Writes nanoseconds as seconds, exactly.
  void seconds(std::int64_t ns) {
    begin();
    const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    text_ += fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", size / 1'000'000'000, size % 1'000'000'000);
  }
  void end() {
    text_ += '\n';
    out_.append(text_);
    text_.clear();
    has_field_ = false;
  }

 private:
  void begin() {
    if (has_field_) text_ += ',';
    has_field_ = true;
  }
  ExportOutput& out_;
  std::string text_;
  bool has_field_ = false;
};

// Writes the columns of a region.
void put_region(CsvRow& row, const ArchivedRegion* region) {
  row.text(region == nullptr ? "" : region->name);
  row.text(region == nullptr ? "" : region->source_file);
  row.optional(region != nullptr && region->line != 0, region == nullptr ? 0 : region->line);
}

void put_place(CsvRow& row, const ArchiveDefinitions& all, const ArchivedLocation& location) {
  const std::uint64_t rank = all.world_rank_of(location.id);
  row.optional(rank != kUndefined64, rank);
  row.number(location.id);
  row.text(location.name);
}

std::string json_of(const ArchiveDefinitions& all, std::span<const ArchivedEvent::Attribute> attributes) {
  if (attributes.empty()) return "";
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [reference, value] : attributes) {
    const ArchivedAttribute* const key = all.attributes.find(reference);
    const std::string name = key == nullptr ? fmt::format("attribute {}", reference) : reports::valid_utf8(key->name);
    if (value.is_real()) {
      json[name] = value.as_real();
    } else if (value.is_signed()) {
      json[name] = value.as_signed();
    } else if (value.type <= OTF2_TYPE_UINT64) {
      json[name] = value.bits;
    } else {
      json[name] = reports::valid_utf8(all.text_of(value));
    }
  }
  return json.dump();
}

class EventTable : public EventConsumer {
 public:
  EventTable(const ArchiveDefinitions& all, ExportOutput& out) : all_(all), out_(out), row_(out) {
    out.append(
        "time_seconds,rank,location,thread,event,name,file,line,communicator,peer,tag,size_bytes,received_bytes,"
        "request,value,attributes\n");
  }
  bool event(const ArchivedEvent& event) override {
    if (event.kind == ArchivedKind::kMetric) {
      put_metrics(event);
    } else {
      put(event, referred_name(all_, event), value_of(event));
    }
    return !out_.failed();
  }
  std::uint64_t rows = 0;

 private:
  std::string value_of(const ArchivedEvent& event) const {
    const EventFields fields = fields_of(event.kind);
    if (event.kind == ArchivedKind::kParameterString) return all_.string_of(static_cast<std::uint32_t>(event.value));
    if (!fields.has_value) return "";
    return fields.is_value_signed ? std::to_string(static_cast<std::int64_t>(event.value))
                                  : std::to_string(event.value);
  }
  // Writes a row for each metric.
  void put_metrics(const ArchivedEvent& event) {
    const auto members = all_.metric_members_of(event.reference);
    for (std::size_t i = 0; i < event.metrics.size(); ++i) {
      const ArchivedMetricMember* const member = i < members.size() ? all_.metric_members.find(members[i]) : nullptr;
      put(event, member == nullptr ? fmt::format("metric {}", event.reference) : member->name,
          all_.text_of(event.metrics[i]));
    }
  }
  void put(const ArchivedEvent& event, const std::string& name, const std::string& value) {
    const EventFields fields = fields_of(event.kind);
    row_.seconds(all_.clock.nanoseconds(event.time));
    put_place(row_, all_, *event.location);
    row_.text(name_of(event.kind));
    row_.text(name);
    const ArchivedRegion* const region = region_of(all_, event);
    row_.text(region == nullptr ? "" : region->source_file);
    row_.optional(region != nullptr && region->line != 0, region == nullptr ? 0 : region->line);
    row_.text(fields.has_comm ? comm_name(all_, event.comm) : "");
    row_.optional(fields.has_peer && event.peer != kUndefined32, event.peer);
    row_.optional(fields.has_tag, event.tag);
    row_.optional(fields.has_bytes, event.bytes);
    row_.optional(fields.has_bytes_received, event.bytes_received);
    row_.optional(fields.has_request, event.request);
    row_.text(value);
    row_.text(json_of(all_, event.attributes));
    row_.end();
    ++rows;
  }

  const ArchiveDefinitions& all_;
  ExportOutput& out_;
  CsvRow row_;
};

class CallTable : public EventConsumer {
 public:
  CallTable(const ArchiveDefinitions& all, ExportOutput& out) : all_(all), out_(out), row_(out) {
    out.append(
        "rank,location,thread,function,file,line,depth,begin_seconds,duration_seconds,messages_sent,sent_bytes,"
        "messages_received,received_bytes,read_bytes,written_bytes\n");
  }
  bool event(const ArchivedEvent& event) override {
    if (event.kind == ArchivedKind::kEnter) {
      open_.push_back({event.reference, event.time});
    } else if (event.kind == ArchivedKind::kLeave) {
      if (open_.empty()) return true;
      put(event, open_.back());
      open_.pop_back();
    } else if (!open_.empty()) {
      count(event, open_.back());
    }
    return !out_.failed();
  }
  // Called before each location.
  void begin_location() {
    not_left += open_.size();
    open_.clear();
    io_modes_.clear();
  }
  std::uint64_t rows = 0, not_left = 0;

 private:
  struct Call {
    std::uint32_t region;
    std::uint64_t begin;
    std::uint64_t sends = 0, sent = 0, receives = 0, received = 0, read = 0, written = 0;
  };
  void count(const ArchivedEvent& event, Call& call) {
    switch (event.kind) {
      case ArchivedKind::kMpiSend:
      case ArchivedKind::kMpiIsend:
        ++call.sends;
        call.sent += event.bytes;
        return;
      case ArchivedKind::kMpiRecv:
      case ArchivedKind::kMpiIrecv:
        ++call.receives;
        call.received += event.bytes;
        return;
      case ArchivedKind::kMpiCollectiveEnd:
      case ArchivedKind::kNonBlockingCollectiveComplete:
        call.sent += event.bytes;
        call.received += event.bytes_received;
        return;
      case ArchivedKind::kRmaPut:
        call.sent += event.bytes;
        return;
      case ArchivedKind::kRmaGet:
        call.received += event.bytes;
        return;
      case ArchivedKind::kRmaAtomic:
        call.sent += event.bytes;
        call.received += event.bytes_received;
        return;
      case ArchivedKind::kIoOperationBegin:
        io_modes_[{event.reference, event.request}] = event.mode;
        return;
      case ArchivedKind::kIoOperationComplete: {
        const auto mode = io_modes_.find({event.reference, event.request});
        if (mode == io_modes_.end()) return;
        if (mode->second == OTF2_IO_OPERATION_MODE_READ) call.read += event.bytes;
        if (mode->second == OTF2_IO_OPERATION_MODE_WRITE) call.written += event.bytes;
        io_modes_.erase(mode);
        return;
      }
      default:
        return;
    }
  }
  void put(const ArchivedEvent& event, const Call& call) {
    put_place(row_, all_, *event.location);
    put_region(row_, all_.regions.find(call.region));
    row_.number(open_.size() - 1);
    row_.seconds(all_.clock.nanoseconds(call.begin));
    row_.seconds(all_.clock.nanoseconds(event.time) - all_.clock.nanoseconds(call.begin));
    for (const std::uint64_t each : {call.sends, call.sent, call.receives, call.received, call.read, call.written})
      row_.number(each);
    row_.end();
    ++rows;
  }

  const ArchiveDefinitions& all_;
  ExportOutput& out_;
  CsvRow row_;
  std::vector<Call> open_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint8_t> io_modes_;  // by handle and number
};

class MessageTable : public EventConsumer {
 public:
  MessageTable(const ArchiveDefinitions& all, ExportOutput& out)
      : all_(all),
        out_(out),
        row_(out),
        ranks_(all),
        matcher_([this](const MessageHalf& send, const MessageHalf& receive) { put(send, receive); }),
        tracker_(
            all, ranks_, [this](const MessageHalf& half) { matcher_.take(half); },
            [this](const MessageHalf& half) { matcher_.cancel(half); }) {
    out.append(
        "sender,receiver,communicator,tag,size_bytes,send_begin_seconds,send_seconds,receive_begin_seconds,"
        "receive_end_seconds,send_thread,receive_thread,send_function,send_file,send_line,receive_function,receive_"
        "file,"
        "receive_line\n");
  }
  bool event(const ArchivedEvent& event) override {
    calls_.event(event);
    tracker_.event(event, calls_);
    return !out_.failed();
  }
  void finish() {
    tracker_.finish();
    for (const auto& [key, channel] : matcher_.channels())
      without_other_end += channel.is_counted ? channel.counted_sends + channel.counted_receives
                                              : channel.sends.size() + channel.receives.size();
    without_other_end += tracker_.unknown_ends();
  }
  std::uint64_t rows = 0, without_other_end = 0;

 private:
  void put(const MessageHalf& send, const MessageHalf& receive) {
    const auto rank_of = [&](const MessageHalf& half) {
      const std::uint64_t rank = all_.world_rank_of(half.location->id);
      row_.optional(rank != kUndefined64, rank);
    };
    rank_of(send);
    rank_of(receive);
    row_.text(comm_name(all_, send.channel.comm));
    row_.number(send.channel.tag);
    row_.number(receive.bytes);
    for (const std::uint64_t time : {send.begin, send.time, receive.begin, receive.time})
      row_.seconds(all_.clock.nanoseconds(time));
    row_.text(send.location->name);
    row_.text(receive.location->name);
    put_region(row_, all_.regions.find(send.region));
    put_region(row_, all_.regions.find(receive.region));
    row_.end();
    ++rows;
  }

  const ArchiveDefinitions& all_;
  ExportOutput& out_;
  CsvRow row_;
  CommRanks ranks_;
  OpenCalls calls_;
  MessageMatcher matcher_;
  MessageTracker tracker_;
};

}  // namespace

ExportedTrace write_event_table(const ArchiveReader& archive, ExportOutput& out) {
  EventTable table(archive.definitions(), out);
  ExportedTrace exported{0, 0, archive.definitions().faults};
  for (const ArchivedLocation& location : archive.definitions().locations) {
    const ReadLocation read = archive.read(location, table);
    if (!read.fault.empty()) exported.faults.add(read.fault, read.detail);
  }
  exported.rows = table.rows;
  return exported;
}

ExportedTrace write_call_table(const ArchiveReader& archive, ExportOutput& out) {
  CallTable table(archive.definitions(), out);
  ExportedTrace exported{0, 0, archive.definitions().faults};
  for (const ArchivedLocation& location : archive.definitions().locations) {
    table.begin_location();
    const ReadLocation read = archive.read(location, table);
    if (!read.fault.empty()) exported.faults.add(read.fault, read.detail);
  }
  table.begin_location();
  exported.rows = table.rows;
  exported.left_out = table.not_left;
  return exported;
}

ExportedTrace write_message_table(const ArchiveReader& archive, ExportOutput& out) {
  MessageTable table(archive.definitions(), out);
  ExportedTrace exported{0, 0, archive.definitions().faults};
  exported.faults.merge(read_in_order(archive, table));
  table.finish();
  exported.rows = table.rows;
  exported.left_out = table.without_other_end;
  return exported;
}

}  // namespace ardoise::launcher
