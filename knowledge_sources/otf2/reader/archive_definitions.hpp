// The global definitions of an OTF2 archive, with their strings resolved. Numbers of enumerations are those of OTF2
// (<otf2/OTF2_Definitions.h>); newer archives may have more.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "knowledge_sources/otf2/reader/archive_faults.hpp"

namespace ardoise::knowledge_sources {

// Undefined references of 32 and of 64 bits.
inline constexpr std::uint32_t kUndefined32 = UINT32_MAX;
inline constexpr std::uint64_t kUndefined64 = UINT64_MAX;

// A value of an attribute, of a property or of a metric: 8 bytes and their type.
struct ArchivedValue {
  std::uint8_t type = 0;  // OTF2_Type
  std::uint64_t bits = 0;  // integers, sign-extended to 64 bits; references; the bits of a double, also for floats

  [[nodiscard]] bool is_signed() const;  // a signed integer
  [[nodiscard]] bool is_real() const;    // float or double
  [[nodiscard]] bool is_string() const;  // bits: reference to a string
  [[nodiscard]] bool is_known() const;   // of a type that this version knows
  [[nodiscard]] std::int64_t as_signed() const { return static_cast<std::int64_t>(bits); }
  [[nodiscard]] double as_real() const;  // of any number
};

struct ArchivedProperty {
  std::string name;
  ArchivedValue value;
};

struct ArchivedSystemNode {
  std::uint32_t id, parent;  // kUndefined32: a root; undefined and cyclic parents are removed
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
  std::uint64_t id, events;  // events: their number according to the definition
  std::uint32_t group;
  std::string name;
  std::uint8_t type;  // OTF2_LocationType: CPU_THREAD, ACCELERATOR_STREAM, METRIC
  std::vector<ArchivedProperty> properties;
};
struct ArchivedRegion {
  std::uint32_t id;
  std::string name, canonical_name, description, source_file;  // source_file "": unknown
  std::uint32_t line, last_line;                               // 0: unknown
  std::uint8_t role, paradigm;                                 // OTF2_RegionRole, OTF2_Paradigm
  std::uint32_t flags;
};
struct ArchivedGroup {
  std::uint32_t id;
  std::string name;
  std::uint8_t type, paradigm;         // OTF2_GroupType
  std::vector<std::uint64_t> members;  // as in the archive: for a COMM_GROUP indices into the COMM_LOCATIONS
};
struct ArchivedComm {
  std::uint32_t id, parent;
  std::string name;
  std::uint32_t group, other_group;  // other side of an intercommunicator, otherwise kUndefined32
  // The locations of its ranks: for a group of communicators resolved by COMM_LOCATIONS of the same paradigm. Empty for
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
  std::uint32_t id, metric_class;  // classes and instances share one range of numbers
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

// Definitions of one kind by number. The first one of a number counts.
template <class T>
class ById {
 public:
  // nullptr: the number exists.
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
  // In the order of the archive.
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  [[nodiscard]] auto begin() { return all_.begin(); }
  [[nodiscard]] auto end() { return all_.end(); }

 private:
  std::vector<T> all_;
  std::unordered_map<std::uint64_t, std::size_t> places_;  // of those whose number is not their index
};

struct ArchivedClock {
  bool is_known = false;  // otherwise times are nanoseconds, from the first one on
  std::uint64_t ticks_per_second = 1'000'000'000;
  std::uint64_t begin = 0, length = 0;             // ticks; of the whole trace
  std::uint64_t begin_realtime_ns = kUndefined64;  // since 1970, of `begin`; kUndefined64: unknown
  [[nodiscard]] double seconds(std::uint64_t time) const {
    const double ticks = time >= begin ? static_cast<double>(time - begin) : -static_cast<double>(begin - time);
    return ticks / static_cast<double>(ticks_per_second);
  }
  // Nanoseconds since `begin`, exact if a tick is a whole number of them.
  [[nodiscard]] std::int64_t nanoseconds(std::uint64_t time) const;
};

// Immutable once read; may be used by all threads.
struct ArchiveDefinitions {
  // Limits memory when many definitions name one string, or many communicators one group.
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
  // Errors in the definitions: a region without a name, a tree node that is its own parent …
  ArchiveFaults faults;

  [[nodiscard]] const std::string& string_of(std::uint32_t reference) const;
  // The members of a metric class or instance; empty if undefined.
  [[nodiscard]] std::span<const std::uint32_t> metric_members_of(std::uint32_t metric) const;
  // The location of a rank of a communicator, as events on `own` refer to it; kUndefined64: none. of_other_side: events
  // on an intercommunicator refer to ranks of the other group.
  [[nodiscard]] std::uint64_t location_of(const ArchivedComm& comm, std::uint32_t rank, std::uint64_t own) const;
  // "rank 3" in MPI_COMM_WORLD: by COMM_LOCATIONS of MPI, otherwise by the location's group. kUndefined64: none.
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
  // The process of a location; for an accelerator, its creating process.
  [[nodiscard]] std::uint32_t process_of(const ArchivedLocation& location) const;
  // Some process has events in several locations.
  [[nodiscard]] bool has_threads() const;

  // Resolves references and notes undefined ones. For the reader.
  void finish();
};

}  // namespace ardoise::knowledge_sources
