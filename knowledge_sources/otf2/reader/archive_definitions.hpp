// What the numbers in the events of an archive mean: the global definitions of OTF2, with their strings put in. Numbers
// of enumerations are those of OTF2 (<otf2/OTF2_Definitions.h>), as there are newer ones in newer archives.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "knowledge_sources/otf2/reader/archive_faults.hpp"

namespace ardoise::knowledge_sources {

// A reference that refers to nothing, of 32 and of 64 bits.
inline constexpr std::uint32_t kUndefined32 = UINT32_MAX;
inline constexpr std::uint64_t kUndefined64 = UINT64_MAX;

// A value of an attribute, of a property or of a metric: 8 bytes and how to take them.
struct ArchivedValue {
  std::uint8_t type = 0;  // OTF2_Type
  std::uint64_t bits =
      0;  // integers, with their sign over all 64 bits; references; the bits of a double, also of floats

  [[nodiscard]] bool is_signed() const;  // an integer with a sign
  [[nodiscard]] bool is_real() const;    // float or double
  [[nodiscard]] bool is_string() const;  // bits: reference of a string
  [[nodiscard]] bool is_known() const;   // of a type that this version knows
  [[nodiscard]] std::int64_t as_signed() const { return static_cast<std::int64_t>(bits); }
  [[nodiscard]] double as_real() const;  // of any number
};

struct ArchivedProperty {
  std::string name;
  ArchivedValue value;
};

struct ArchivedSystemNode {
  std::uint32_t id, parent;  // kUndefined32: a root; a parent that is not there or that would make a loop is taken away
  std::string name, kind;    // "node", "machine"
  std::vector<ArchivedProperty> properties;
};
struct ArchivedLocationGroup {
  std::uint32_t id, node, creator;  // creator: a location group, or kUndefined32
  std::string name;
  std::uint8_t type;  // OTF2_LocationGroupType: process, accelerator
  std::vector<ArchivedProperty> properties;
};
struct ArchivedLocation {
  std::uint64_t id, events;  // events: as many as it is said to have
  std::uint32_t group;
  std::string name;
  std::uint8_t type;  // OTF2_LocationType: CPU_THREAD, ACCELERATOR_STREAM, METRIC
  std::vector<ArchivedProperty> properties;
};
struct ArchivedRegion {
  std::uint32_t id;
  std::string name, canonical_name, description, source_file;  // source_file "": not known
  std::uint32_t line, last_line;                               // 0: not known
  std::uint8_t role, paradigm;                                 // OTF2_RegionRole, OTF2_Paradigm
  std::uint32_t flags;
};
struct ArchivedGroup {
  std::uint32_t id;
  std::string name;
  std::uint8_t type, paradigm;         // OTF2_GroupType
  std::vector<std::uint64_t> members;  // as they stand there: of a COMM_GROUP indices into the COMM_LOCATIONS
};
struct ArchivedComm {
  std::uint32_t id, parent;
  std::string name;
  std::uint32_t group, other_group;  // of the other side of an intercommunicator, otherwise kUndefined32
  // The locations of its ranks, resolved: of a group of communicators by COMM_LOCATIONS of the same paradigm. Empty for
  // MPI_COMM_SELF, whose only rank is the location that uses it, and beyond kMostMembers.
  std::vector<std::uint64_t> members, others;
  bool is_self;
};
struct ArchivedWindow {
  std::uint32_t id, comm;
  std::string name;
};
struct ArchivedFile {
  std::uint32_t id;
  std::string path;
  bool is_directory;
  std::vector<ArchivedProperty> properties;
};
struct ArchivedIoParadigm {
  std::uint32_t id;
  std::string identification, name;
};
struct ArchivedHandle {
  std::uint32_t id, file, paradigm, comm, parent;
  std::string name;
};
struct ArchivedMetricMember {
  std::uint32_t id;
  std::string name, description, unit;
  std::uint8_t type, mode, value_type, base;  // OTF2_MetricType, OTF2_MetricMode, OTF2_Type, OTF2_Base
  std::int64_t exponent;                      // a value is in unit · base^exponent
};
struct ArchivedMetricClass {
  std::uint32_t id;
  std::vector<std::uint32_t> members;
  std::uint8_t occurrence;  // OTF2_MetricOccurrence
};
struct ArchivedMetricInstance {
  std::uint32_t id, metric_class;  // numbers of classes and instances are one range
  std::uint64_t recorder, scope;
  std::uint8_t scope_kind;  // OTF2_MetricScope
};
struct ArchivedParameter {
  std::uint32_t id;
  std::string name;
  std::uint8_t type;  // OTF2_ParameterType
};
struct ArchivedAttribute {
  std::uint32_t id;
  std::string name, description;
  std::uint8_t type;  // OTF2_Type
};
struct ArchivedTopology {
  struct Dimension {
    std::string name;
    std::uint32_t size;
    bool is_periodic;
  };
  struct Place {
    std::uint32_t rank;
    std::vector<std::uint32_t> coordinates;
  };
  std::uint32_t id, comm;
  std::string name;
  std::vector<Dimension> dimensions;
  std::vector<Place> places;
};
struct ArchivedSourceLine {
  std::uint32_t id, line;
  std::string file;
};
struct ArchivedCallingContext {
  std::uint32_t id, region, source_line, parent;
};
struct ArchivedInterruptGenerator {
  std::uint32_t id;
  std::string name;
  std::uint8_t mode, base;  // OTF2_InterruptGeneratorMode: time or count
  std::int64_t exponent;
  std::uint64_t period;
};
struct ArchivedParadigm {
  std::uint32_t id;  // OTF2_Paradigm
  std::string name;
  std::uint8_t kind;  // OTF2_ParadigmClass
};
struct ArchivedMarker {
  std::uint64_t time, duration;
  std::uint8_t severity, scope_kind;  // OTF2_MarkerSeverity, OTF2_MarkerScope
  std::uint64_t scope;                // location, location group, system tree node …
  std::string group, category, text;
};

// Definitions of one kind, found by their number. The first one of a number stands.
template <class T>
class ById {
 public:
  // nullptr: there is one already.
  T* add(T item) {
    const std::uint64_t id = item.id;
    if (find(id) != nullptr) return nullptr;
    if (id != all_.size()) places_.emplace(id, all_.size());
    all_.push_back(std::move(item));
    return &all_.back();
  }
  [[nodiscard]] const T* find(std::uint64_t id) const {
    if (id < all_.size() && all_[static_cast<std::size_t>(id)].id == id) return &all_[static_cast<std::size_t>(id)];
    const auto found = places_.find(id);
    return found == places_.end() ? nullptr : &all_[found->second];
  }
  [[nodiscard]] T* find(std::uint64_t id) { return const_cast<T*>(std::as_const(*this).find(id)); }

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  // As they stand in the archive.
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  [[nodiscard]] auto begin() { return all_.begin(); }
  [[nodiscard]] auto end() { return all_.end(); }

 private:
  std::vector<T> all_;
  std::unordered_map<std::uint64_t, std::size_t> places_;  // of those that are not at the place of their number
};

struct ArchivedClock {
  bool is_known = false;  // without: times are taken for nanoseconds from the first one on
  std::uint64_t ticks_per_second = 1'000'000'000;
  std::uint64_t begin = 0, length = 0;             // ticks; of the whole trace
  std::uint64_t begin_realtime_ns = kUndefined64;  // since 1970, of `begin`; kUndefined64: not known
  [[nodiscard]] double seconds(std::uint64_t time) const {
    const double ticks = time >= begin ? static_cast<double>(time - begin) : -static_cast<double>(begin - time);
    return ticks / static_cast<double>(ticks_per_second);
  }
  // Nanoseconds since `begin`, exact where a tick is a whole number of them.
  [[nodiscard]] std::int64_t nanoseconds(std::uint64_t time) const;
};

// Does not change once it was read; may be used by all threads.
struct ArchiveDefinitions {
  // A string that many definitions name, or a group of many communicators, must not fill the memory.
  static constexpr std::uint64_t kMostNameBytes = std::uint64_t{1} << 29;
  static constexpr std::uint64_t kMostMembers = std::uint64_t{1} << 24;  // of all communicators

  ArchivedClock clock;
  std::unordered_map<std::uint32_t, std::string> strings;
  ById<ArchivedParadigm> paradigms;
  ById<ArchivedSystemNode> system_tree;
  ById<ArchivedLocationGroup> location_groups;
  ById<ArchivedLocation> locations;
  ById<ArchivedRegion> regions;
  ById<ArchivedGroup> groups;
  ById<ArchivedComm> comms;
  ById<ArchivedWindow> windows;
  ById<ArchivedFile> files;
  ById<ArchivedIoParadigm> io_paradigms;
  ById<ArchivedHandle> handles;
  ById<ArchivedMetricMember> metric_members;
  ById<ArchivedMetricClass> metric_classes;
  ById<ArchivedMetricInstance> metric_instances;
  ById<ArchivedParameter> parameters;
  ById<ArchivedAttribute> attributes;
  ById<ArchivedTopology> topologies;
  ById<ArchivedSourceLine> source_lines;
  ById<ArchivedCallingContext> calling_contexts;
  ById<ArchivedInterruptGenerator> interrupt_generators;
  std::vector<ArchivedMarker> markers;    // by time
  std::uint64_t unknown_definitions = 0;  // of kinds that this version does not know
  // What is wrong in them: a region without a name, a tree node that is its own parent …
  ArchiveFaults faults;

  [[nodiscard]] const std::string& string_of(std::uint32_t reference) const;
  // The members of a metric class or instance; empty where it is not there.
  [[nodiscard]] std::span<const std::uint32_t> metric_members_of(std::uint32_t metric) const;
  // The location of a rank of a communicator, as events on `own` name it; kUndefined64 where there is none.
  // of_other_side: events on an intercommunicator name ranks of the other group.
  [[nodiscard]] std::uint64_t location_of(const ArchivedComm& comm, std::uint32_t rank, std::uint64_t own) const;
  // "rank 3" in MPI_COMM_WORLD: by COMM_LOCATIONS of MPI, by the location's group otherwise. kUndefined64: none.
  [[nodiscard]] std::uint64_t world_rank_of(std::uint64_t location) const;
  // "node 'c3' / process 'MPI Rank 3' / 'Master thread'"
  [[nodiscard]] std::string place_of(const ArchivedLocation& location) const;
  // A value as text: strings and references with their names.
  [[nodiscard]] std::string text_of(const ArchivedValue& value) const;
  // Functions of a calling context and its callers: "exchange < solve < main". After finish().
  static constexpr std::size_t kMostFrames = 64;  // then an ellipsis
  [[nodiscard]] std::string stack_of(const ArchivedCallingContext& innermost) const;

  // By location group, filled by finish().
  std::unordered_map<std::uint32_t, std::uint64_t> world_ranks;
  // By location: the process that it belongs to; of an accelerator, of the process that made it.
  [[nodiscard]] std::uint32_t process_of(const ArchivedLocation& location) const;
  // Any process has events in several locations.
  [[nodiscard]] bool has_threads() const;

  // Resolves what refers to others and notes what refers to nothing. For the reader.
  void finish();
};

}  // namespace ardoise::knowledge_sources
