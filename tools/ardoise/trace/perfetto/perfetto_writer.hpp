// Writes packets of Perfetto's format: TrackEvents on tracks of processes, threads and counters. Each name is written
// once and then referred to by number. The field numbers are from Perfetto's public schema (protos/perfetto/trace);
// those used here have been stable for years.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/ardoise/common/export_output.hpp"
#include "tools/ardoise/trace/perfetto/proto_message.hpp"

namespace ardoise::launcher {

// Debug annotations of an event, encoded before the event is written.
class PerfettoWriter;
class PerfettoNotes {
 public:
  explicit PerfettoNotes(PerfettoWriter& writer) : writer_(writer) {}
  void number(std::string_view name, std::uint64_t value);
  void signed_number(std::string_view name, std::int64_t value);
  void real(std::string_view name, double value);
  void text(std::string_view name, std::string_view value);
  void group(std::string_view name, const PerfettoNotes& notes);
  [[nodiscard]] bool empty() const { return notes_.empty(); }

 private:
  friend class PerfettoWriter;
  [[nodiscard]] ProtoMessage begin(std::string_view name);
  PerfettoWriter& writer_;
  // Encoded annotations, for an event or a group.
  std::vector<std::string> notes_;
};

// Not thread safe. Times are in ns. The caller numbers tracks from 1, uniquely over all kinds.
class PerfettoWriter {
 public:
  explicit PerfettoWriter(ExportOutput& out);

  // Real time of time 0, in ns since 1970.
  void clock(std::uint64_t realtime_ns);
  void process_track(std::uint64_t track, std::int32_t pid, std::string_view name);
  void thread_track(std::uint64_t track, std::int32_t pid, std::int64_t tid, std::string_view name);
  void counter_track(std::uint64_t track, std::uint64_t parent, std::string_view name, std::string_view unit);
  void named_track(std::uint64_t track, std::string_view name);

  struct Name {  // of a slice: numbers of interned data; 0: none
    std::uint64_t name = 0, category = 0, source = 0;
  };
  [[nodiscard]] Name name(std::string_view name, std::string_view category, std::string_view file = "",
                          std::uint32_t line = 0);

  using Flows = std::vector<std::uint64_t>;
  void begin(std::uint64_t track, std::uint64_t time, const Name& name, const Flows& flows, const PerfettoNotes& notes);
  void end(std::uint64_t track, std::uint64_t time, const Flows& flows, const PerfettoNotes& notes);
  void instant(std::uint64_t track, std::uint64_t time, const Name& name, const Flows& flows,
               const PerfettoNotes& notes);
  void counter(std::uint64_t track, std::uint64_t time, std::int64_t value);
  void counter(std::uint64_t track, std::uint64_t time, double value);

  [[nodiscard]] std::uint64_t packets() const { return packets_; }

 private:
  friend class PerfettoNotes;
  using Numbers = std::unordered_map<std::string, std::uint64_t>;
  // The number of a text among texts of one kind. A new text is written with the next packet.
  [[nodiscard]] std::uint64_t interned(Numbers& numbers, std::uint32_t field, std::string_view text);
  void track_event(std::uint64_t time, const ProtoMessage& event);
  void event(std::uint32_t type, std::uint64_t track, std::uint64_t time, const Name& name, const Flows& flows,
             const PerfettoNotes& notes);
  void descriptor(const ProtoMessage& descriptor);
  void packet(const ProtoMessage& packet);

  ExportOutput& out_;
  Numbers names_, categories_, note_names_, texts_, sources_;
  ProtoMessage new_interned_;
  std::uint64_t packets_ = 0;
};

}  // namespace ardoise::launcher
