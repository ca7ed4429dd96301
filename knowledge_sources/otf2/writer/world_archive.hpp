// The archive of one world, MPI_COMM_WORLD of one program or of several that share it: the event files of all parts,
// and the definitions of their numbers. A location group is a process, numbered by its rank in the world; a location is
// a thread; regions, communicators, files and names occur once each, whichever parts have them.
#pragma once

#include <otf2/OTF2_Archive.h>
#include <otf2/OTF2_GlobalDefWriter.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "knowledge_sources/otf2/writer/call_notes.hpp"
#include "knowledge_sources/otf2/writer/copied_calls.hpp"
#include "knowledge_sources/otf2/writer/trace_marker.hpp"
#include "knowledge_sources/otf2/writer/trace_sink.hpp"
#include "knowledge_sources/otf2/writer/trace_tables.hpp"
#include "knowledge_sources/reduction/level.hpp"

namespace ardoise::knowledge_sources {

// A part as read from disk.
struct ReadPart {
  std::filesystem::path folder;
  TraceTables tables;
};

class StringWriter;

class WorldArchive {
 public:
  // Adds a program with its parts and definitions.
  void add(const Program& program, const std::vector<const ReadPart*>& parts, const Resolver& resolver);
  // Restricts an added program to these rounds of its main loop, which has all_rounds (0: no main loop).
  void restrict_to(const Program& program, std::uint64_t all_rounds, const std::vector<TraceRounds>& rounds);
  static constexpr std::size_t kMostMarkers = 16384;
  // For an added program. Beyond kMostMarkers: only counted.
  void add(const TraceMarker& marker);
  // Takes the event files of the parts. Returns the error, or "".
  [[nodiscard]] std::string write(const std::filesystem::path& folder);

  [[nodiscard]] const std::string& name() const { return name_; }  // of its first program
  [[nodiscard]] std::uint64_t events() const { return events_; }
  // Missing data as a sentence for the report, or "".
  [[nodiscard]] std::string complaint() const;

 private:
  using Numbers = std::vector<std::uint64_t>;  // archive numbers, by number in a part
  struct OfPart {
    Numbers regions, names;
    Numbers keys{};  // TraceRegion::key(), by number in the part
  };
  struct OfRank {
    std::string host, program;
    // Archive numbers, by number in the rank.
    std::map<std::uint64_t, std::uint64_t> communicators, handles, windows, groups, texts;
    struct Notes {
      std::shared_ptr<const NotesOfPart> of_part;
      std::uint32_t rank;  // there
    };
    std::vector<Notes> notes;                              // of its parts with notes
    std::optional<std::vector<CopiedCalls::Times>> times;  // only calls that begin in these
    std::optional<double> clock_error_ns{};                // bound, of its clock against that of rank 0
    TraceClock clock, last_clock;                          // of the time stamps, and the final one
  };
  struct Thread {
    TraceTables::Thread told;
    struct InPart {
      std::shared_ptr<const OfPart> numbers;
      std::filesystem::path folder;
    };
    std::vector<InPart> parts;  // usually one
  };
  struct Region {
    std::string name, description, source_file;
    std::uint32_t line;
    TraceRegion::Kind kind;
    std::uint32_t function;
    friend auto operator<=>(const Region&, const Region&) = default;
  };
  struct Communicator {
    std::string name;
    bool is_inter = false, is_self = false;
    std::vector<std::uint64_t> members, others;       // ranks of the world; others: of the other side
    std::vector<instrument::TopologyDimension> grid;  // its Cartesian topology
  };
  // Interrupt source of samples and its period: in us of the program's time, or in events.
  struct Generator {
    std::string name;
    bool counts;
    std::uint64_t period;
    friend auto operator<=>(const Generator&, const Generator&) = default;
  };
  struct Sampled {                                    // a location of samples
    std::map<std::uint64_t, std::uint64_t> contexts;  // archive numbers, by number in the location
    std::uint64_t generator = 0;
    std::uint64_t counters = 0;               // number in `instance`
    std::optional<std::uint64_t> instance{};  // of the metrics, if there are counters
  };
  class ContextNumbers;
  static constexpr std::uint64_t kNoContext = UINT64_MAX;
  using Context = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // parent, region, place or 0
  struct File {
    std::string path;
    bool is_mpi_io;
    friend auto operator<=>(const File&, const File&) = default;
  };

  [[nodiscard]] std::uint64_t region_of(const TraceRegion& region, const ReadPart& part, const Resolver& resolver);
  [[nodiscard]] std::uint64_t name_of(const std::string& name);
  // By number in the rank.
  [[nodiscard]] std::map<std::uint32_t, std::uint64_t> communicators_of(std::uint32_t rank, const Resolver& resolver);
  [[nodiscard]] std::uint64_t add_communicator(Communicator communicator);
  [[nodiscard]] std::uint64_t unknown_communicator();
  [[nodiscard]] std::uint64_t unknown_communicator_number() const { return unknown_ != 0 ? unknown_ : UINT64_MAX; }
  [[nodiscard]] static TraceClock last_clock(std::uint32_t rank, const Resolver& resolver);

  void add_texts(std::uint32_t first, const TraceTables& tables);
  void add_windows(std::uint32_t first, const TraceTables& tables);
  void add_samples(std::uint32_t first, const std::vector<const ReadPart*>& parts, const Resolver& resolver);
  [[nodiscard]] std::uint64_t metric_of(const Sampled& sampled) const;
  [[nodiscard]] std::string text_of_losses() const;
  [[nodiscard]] std::map<std::uint64_t, std::uint64_t> attribute_numbers() const;
  void write_local_definitions(OTF2_Archive* archive) const;
  void write_global_definitions(OTF2_Archive* archive) const;
  void write_communicators(OTF2_GlobalDefWriter* out, StringWriter& strings) const;
  void write_grids(OTF2_GlobalDefWriter* out, StringWriter& strings) const;
  void write_samples(OTF2_GlobalDefWriter* out, StringWriter& strings) const;
  void write_markers(OTF2_Archive* archive) const;
  // Writes their event files. Each returns the error, or "".
  [[nodiscard]] std::string take_events(OTF2_Archive* archive, std::uint32_t rank,
                                        std::span<const std::uint64_t> locations, const std::filesystem::path& folder);
  [[nodiscard]] std::string take_events(OTF2_Archive* archive, std::uint64_t location, Thread& thread,
                                        const std::filesystem::path& folder, CopiedCalls& calls) const;
  // If selected. folder: for its files. Returns the error, or "".
  [[nodiscard]] std::string make_clocks(const std::filesystem::path& folder);
  class ClockEvents;
  [[nodiscard]] CopiedCalls calls_of(std::uint32_t rank);
  // Values of plug-ins: attaches them, and collects their keys.
  void add_values(std::vector<CopiedCalls::Value>& list, std::uint32_t rank, const NotesOfPart& part,
                  std::span<const NotedValue> values);
  void add_keys(const std::vector<EventKeyDefinition>& keys);
  void write_plugin_keys(OTF2_GlobalDefWriter* out, StringWriter& strings) const;
  [[nodiscard]] std::uint32_t text_of_value(OfRank& rank, const std::string& text);
  [[nodiscard]] std::uint32_t own_parameter() const { return static_cast<std::uint32_t>(names_.size()); }
  void count_waits(const CopiedCalls& calls, std::uint32_t rank, std::span<const std::uint64_t> locations);
  [[nodiscard]] std::uint64_t corrected(const Thread& thread, std::uint64_t time) const;
  struct Range {
    std::uint64_t first, last;
  };
  [[nodiscard]] Range range() const;  // of time

  std::string name_, selection_;
  std::uint64_t events_ = 0, start_realtime_ns_ = 0;
  std::vector<OfRank> ranks_;                // of the world
  std::map<std::uint64_t, Thread> threads_;  // by location
  std::map<Region, std::uint64_t> regions_;
  std::map<std::string, std::uint64_t> names_;  // of parameters and metrics
  std::vector<Communicator> communicators_;
  std::map<std::tuple<std::uint64_t, std::uint32_t, bool>, std::uint64_t> known_;  // by group, instance and kind
  std::uint64_t self_ = 0, unknown_ = 0;                                           // communicators; 0: none yet
  std::map<File, std::uint64_t> files_;
  std::uint64_t attributes_ = 0;                // attributes in use: bits, by key
  std::map<std::string, std::uint64_t> texts_;  // of attributes: references to strings, from 1 on
  struct PluginKey {
    EventValueType type;
    std::string description;
    bool has_two_types = false;
  };
  std::map<std::string, PluginKey> plugin_keys_;  // by name, numbered in this order
  bool has_own_events_ = false;                   // values without a call
  std::uint64_t refused_values_ = 0;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> windows_;  // by communicator and number on it
  static constexpr std::uint64_t kFirstGroup = 1;                             // 0: the processes of the world
  std::map<std::vector<std::uint64_t>, std::uint64_t> groups_;                // of epochs: ranks of the world
  std::map<std::uint64_t, Sampled> sampled_;                                  // by location
  // Calling contexts of calls: archive numbers, by number in the location; by location.
  std::map<std::uint64_t, std::map<std::uint64_t, std::uint64_t>> stacks_;
  std::map<std::pair<std::string, std::uint32_t>, std::uint64_t> places_;  // files and lines, from 1 on
  std::map<Context, std::uint64_t> contexts_;
  std::map<Generator, std::uint64_t> generators_;
  std::map<std::vector<std::string>, std::uint64_t> counters_;  // counters that are read together
  std::uint64_t instances_ = 0;
  std::vector<TraceMarker> markers_;
  std::uint64_t further_markers_ = 0;
  std::vector<TraceTables::Gap> gaps_;  // of ranks of the world
  TraceLosses losses_;
  std::unique_ptr<TraceClocks> clocks_;
  std::set<std::uint64_t> clocked_;  // locations with clocks
  std::uint64_t waits_without_call_ = 0, clocks_without_other_end_ = 0;
  std::vector<std::string> about_rounds_;  // sentences
  std::uint64_t unseen_ranks_ = 0;         // ranks without a part
};

}  // namespace ardoise::knowledge_sources
