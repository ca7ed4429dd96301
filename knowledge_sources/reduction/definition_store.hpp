// Collects the definitions of a program, in any order, on any worker, and merges those of other analyzers.
// LevelResolver interprets them when all have arrived. Texts and lists of members are stored once, communicators too,
// except for 8 bytes a rank; memory is linear in ranks and in the definitions that differ between them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "blackboard/blackboard.hpp"
#include "instrument/format/definition_reader.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/containers/flat_table.hpp"
#include "knowledge_sources/containers/sentences.hpp"
#include "knowledge_sources/containers/string_pool.hpp"
#include "knowledge_sources/interface/analysis.hpp"

namespace ardoise::knowledge_sources {

struct ModuleEntry {
  std::uint32_t module;
  TextId path, build_id;
};
struct FileEntry {
  std::uint32_t file;
  TextId path;
};
// A function of a Python program; see PythonCodeDefinition.
struct PythonEntry {
  std::uint32_t code, minor, first_line;
  TextId name, file, lines;
};
// Facts of a communicator that all its ranks share.
struct CommFacts {
  std::uint64_t group_hash;
  instrument::CommunicatorKind kind;
  std::uint32_t instance, size, remote_size, ranges, remote_ranges;
  friend bool operator==(const CommFacts&, const CommFacts&) = default;
};
[[nodiscard]] inline std::uint64_t hash_of(const CommFacts& facts) {
  return (facts.group_hash ^ (std::uint64_t{facts.instance} << 32 | facts.size)) * 0x9E3779B97F4A7C15u;
}
// A rank's number of a communicator.
struct CommEntry {
  std::uint32_t comm, facts;  // facts: for DefinitionStore::comm_facts()
};
struct CommNameEntry {
  std::uint32_t comm;
  TextId name;
  std::uint64_t sequence;  // of the pack with its name; the latest name counts
};
struct TopologyEntry {
  std::uint32_t comm;
  std::vector<instrument::TopologyDimension> dimensions;
};

struct RankDefinitions {
  bool has_process = false, has_clock = false, has_usage = false;
  instrument::ProcessDefinition process{};
  TextId program = 0, command_line = 0, host = 0, directory = 0;
  instrument::ClockDefinition clock{};
  TextId clock_name = 0, node = 0;
  instrument::UsageDefinition usage{};
  instrument::MemoryDefinition memory{};
  std::vector<instrument::MemoryPoint> memory_points;
  std::uint32_t threads = 0;
  // Each sorted by its number.
  std::vector<ModuleEntry> modules;
  std::vector<FileEntry> files;
  std::vector<PythonEntry> python;
  std::vector<instrument::FileAccessDefinition> accesses;
  std::vector<CommEntry> comms;
  std::vector<CommNameEntry> comm_names;
  std::vector<TopologyEntry> topologies;
};

// Identifies one list of members. The list of an intercommunicator depends on the remote group too, so the key includes
// its instance; its two sides have separate lists under one hash, distinguished by the first member of the own group.
struct GroupKey {
  std::uint64_t hash;
  std::uint32_t kind, instance, ranges, remote_ranges;
  std::int32_t lead;  // intercommunicators: rank in the world; otherwise 0
  std::uint32_t reserved;
  friend constexpr auto operator<=>(const GroupKey&, const GroupKey&) = default;
};
[[nodiscard]] GroupKey group_key(const CommFacts& comm, std::int32_t lead);

struct CallSiteEntry {
  std::uint32_t rank, module;
  std::uint64_t offset;
  friend constexpr auto operator<=>(const CallSiteEntry&, const CallSiteEntry&) = default;
};

class DefinitionStore {
 public:
  explicit DefinitionStore(const AnalysisContext& context);

  void attach(LevelSources& sources);
  void add(const DefinitionSpan& span);  // any thread

  // Nothing runs concurrently with these.
  [[nodiscard]] std::vector<std::byte> partial() const;
  void absorb(std::span<const std::byte> partial);  // throws BadPartial, and is unchanged then

  [[nodiscard]] const std::vector<RankDefinitions>& ranks() const { return ranks_; }
  [[nodiscard]] std::string_view text(TextId id) const { return strings_.text(id); }
  [[nodiscard]] const CommFacts& comm_facts(const CommEntry& entry) const { return comm_facts_[entry.facts]; }
  [[nodiscard]] const std::unordered_map<std::uint32_t, CallSiteEntry>& call_sites() const { return call_sites_; }
  // By call site: the shortest mean run of memory in datatypes used there, bytes. Others have no short runs.
  [[nodiscard]] const std::map<std::uint32_t, std::uint32_t>& short_runs() const { return short_runs_; }
  // Ids of several different places (hash collisions). call_sites() has one of the places.
  [[nodiscard]] const std::set<std::uint32_t>& ambiguous_call_sites() const { return ambiguous_call_sites_; }
  // The parts of each list of members by the number of their first range.
  using Parts = std::map<std::uint32_t, std::vector<instrument::RankRange>>;
  [[nodiscard]] const std::map<GroupKey, Parts>& groups() const { return groups_; }
  [[nodiscard]] const Sentences& notices() const { return notices_; }

 private:
  friend class DefinitionReceiver;
  void merge(const DefinitionStore& other);

  // Each keeps the same one of two contradicting definitions, whatever the order.
  void add_module(RankDefinitions& rank, const ModuleEntry& entry);
  void add_file(RankDefinitions& rank, const FileEntry& entry);
  static void add_access(RankDefinitions& rank, const instrument::FileAccessDefinition& access);
  static void add_python(RankDefinitions& rank, const PythonEntry& entry);
  void add_comm(RankDefinitions& rank, std::uint32_t comm, const CommFacts& facts);
  void add_comm_name(RankDefinitions& rank, const CommNameEntry& entry);
  void add_clock(RankDefinitions& rank, const instrument::ClockDefinition& clock, TextId name, TextId node);
  static void add_topology(RankDefinitions& rank, const TopologyEntry& entry);
  void add_call_site(std::uint32_t id, const CallSiteEntry& entry);
  void add_short_runs(std::uint32_t call_site, std::uint32_t run_bytes);

  std::string level_;
  std::uint32_t first_rank_;  // of the program in its world
  std::mutex mutex_;          // for everything below; definitions are rare
  StringPool strings_;
  std::vector<RankDefinitions> ranks_;
  std::vector<CommFacts> comm_facts_;                      // each once, however many ranks have it
  FlatTable<CommFacts, std::uint32_t> comm_facts_number_;  // in comm_facts_
  std::unordered_map<std::uint32_t, CallSiteEntry> call_sites_;
  std::set<std::uint32_t> ambiguous_call_sites_;
  std::map<std::uint32_t, std::uint32_t> short_runs_;
  std::map<GroupKey, Parts> groups_;
  Sentences notices_;
};

}  // namespace ardoise::knowledge_sources
