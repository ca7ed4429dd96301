// Encoding and decoding of an analyzer's definitions (definition_store.hpp).
#include <algorithm>

#include "knowledge_sources/reduction/definition_store.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kDefinitionsVersion = 6;

enum Present : std::uint8_t { kProcess = 1, kClock = 2, kLists = 4, kUsage = 8, kMemory = 16 };

TextId known_text(const ByteReader& in, TextId id, const std::vector<TextId>& texts) {
  in.check(id < texts.size(), "refers to a text that it lacks");
  return texts[id];
}

}  // namespace

std::vector<std::byte> DefinitionStore::partial() const {
  ByteWriter out;
  out.put(kDefinitionsVersion);
  out.put_count(strings_.size());
  for (TextId id = 0; id < strings_.size(); ++id) out.put_text(strings_.text(id));
  out.put_array(std::span<const CommFacts>(comm_facts_));
  out.put_count(ranks_.size());
  for (const RankDefinitions& rank : ranks_) {
    const bool lists = !rank.modules.empty() || !rank.files.empty() || !rank.comms.empty() ||
                       !rank.topologies.empty() || !rank.python.empty() || !rank.accesses.empty();
    out.put(static_cast<std::uint8_t>((rank.has_process ? kProcess : 0) | (rank.has_clock ? kClock : 0) |
                                      (lists ? kLists : 0) | (rank.has_usage ? kUsage : 0) |
                                      (rank.memory_points.empty() ? 0 : kMemory)));
    out.put(rank.threads);
    if (rank.has_process) {
      out.put(rank.process);
      for (const TextId id : {rank.program, rank.command_line, rank.host, rank.directory}) out.put(id);
    }
    if (rank.has_clock) {
      out.put(rank.clock);
      for (const TextId id : {rank.clock_name, rank.node}) out.put(id);
    }
    if (rank.has_usage) out.put(rank.usage);
    if (!rank.memory_points.empty()) {
      out.put(rank.memory);
      out.put_array(std::span<const instrument::MemoryPoint>(rank.memory_points));
    }
    if (!lists) continue;
    out.put_array(std::span<const ModuleEntry>(rank.modules));
    out.put_array(std::span<const FileEntry>(rank.files));
    out.put_array(std::span<const PythonEntry>(rank.python));
    out.put_array(std::span<const instrument::FileAccessDefinition>(rank.accesses));
    out.put_array(std::span<const CommEntry>(rank.comms));
    out.put_array(std::span<const CommNameEntry>(rank.comm_names));
    out.put_count(rank.topologies.size());
    for (const TopologyEntry& topology : rank.topologies) {
      out.put(topology.comm);
      out.put_array(std::span<const instrument::TopologyDimension>(topology.dimensions));
    }
  }
  out.put_count(call_sites_.size());
  for (const auto& [id, entry] : call_sites_) {
    out.put(id);
    out.put(entry);
  }
  out.put_count(ambiguous_call_sites_.size());
  for (const std::uint32_t id : ambiguous_call_sites_) out.put(id);
  out.put_count(short_runs_.size());
  for (const auto& [site, run_bytes] : short_runs_) {
    out.put(site);
    out.put(run_bytes);
  }
  out.put_count(groups_.size());
  for (const auto& [key, parts] : groups_) {
    out.put(key);
    out.put_count(parts.size());
    for (const auto& [first, ranges] : parts) {
      out.put(first);
      out.put_array(std::span<const instrument::RankRange>(ranges));
    }
  }
  notices_.write(out);
  return out.take();
}

void DefinitionStore::absorb(std::span<const std::byte> partial) {
  ByteReader in(partial, "definitions");
  in.expect_version(kDefinitionsVersion);
  AnalysisContext context{};
  context.ranks = static_cast<std::uint32_t>(ranks_.size());
  DefinitionStore other(context);

  std::vector<TextId> texts(in.get_count(sizeof(std::uint32_t)));
  for (TextId& id : texts) id = other.strings_.intern(in.get_text());
  const auto comm_facts = in.get_array<CommFacts>();
  in.check(in.get_count(1) == ranks_.size(), "belongs to a program with another number of ranks");
  for (RankDefinitions& rank : other.ranks_) {
    const auto present = in.get<std::uint8_t>();
    rank.threads = in.get<std::uint32_t>();
    if ((present & kProcess) != 0) {
      rank.has_process = true;
      rank.process = in.get<instrument::ProcessDefinition>();
      for (TextId* id : {&rank.program, &rank.command_line, &rank.host, &rank.directory})
        *id = known_text(in, in.get<TextId>(), texts);
    }
    if ((present & kClock) != 0) {
      rank.has_clock = true;
      rank.clock = in.get<instrument::ClockDefinition>();
      for (TextId* id : {&rank.clock_name, &rank.node}) *id = known_text(in, in.get<TextId>(), texts);
    }
    if ((present & kUsage) != 0) {
      rank.has_usage = true;
      rank.usage = in.get<instrument::UsageDefinition>();
    }
    if ((present & kMemory) != 0) {
      rank.memory = in.get<instrument::MemoryDefinition>();
      rank.memory_points = in.get_array<instrument::MemoryPoint>();
    }
    if ((present & kLists) == 0) continue;
    const auto known = [&](TextId id) { return known_text(in, id, texts); };
    for (const auto& entry : in.get_array<ModuleEntry>()) {
      other.add_module(rank, {entry.module, known(entry.path), known(entry.build_id)});
    }
    for (const auto& entry : in.get_array<FileEntry>()) other.add_file(rank, {entry.file, known(entry.path)});
    for (PythonEntry entry : in.get_array<PythonEntry>()) {
      for (TextId* text : {&entry.name, &entry.file, &entry.lines}) *text = known(*text);
      other.add_python(rank, entry);
    }
    for (const auto& access : in.get_array<instrument::FileAccessDefinition>()) other.add_access(rank, access);
    for (const auto& entry : in.get_array<CommEntry>()) {
      in.check(entry.facts < comm_facts.size(), "refers to a communicator that it lacks");
      other.add_comm(rank, entry.comm, comm_facts[entry.facts]);
    }
    for (const auto& entry : in.get_array<CommNameEntry>())
      other.add_comm_name(rank, {entry.comm, known(entry.name), entry.sequence});
    for (auto left = in.get_count(sizeof(std::uint32_t)); left != 0; --left) {
      const auto comm = in.get<std::uint32_t>();
      add_topology(rank, {comm, in.get_array<instrument::TopologyDimension>()});
    }
  }
  for (auto left = in.get_count(sizeof(std::uint32_t) + sizeof(CallSiteEntry)); left != 0; --left) {
    const auto id = in.get<std::uint32_t>();
    const auto entry = in.get<CallSiteEntry>();
    in.check(entry.rank < ranks_.size(), "has a call site of a rank that does not exist");
    other.add_call_site(id, entry);
  }
  for (auto left = in.get_count(sizeof(std::uint32_t)); left != 0; --left) {
    other.ambiguous_call_sites_.insert(in.get<std::uint32_t>());
  }
  for (auto left = in.get_count(2 * sizeof(std::uint32_t)); left != 0; --left) {
    const auto site = in.get<std::uint32_t>();
    other.add_short_runs(site, in.get<std::uint32_t>());
  }
  for (auto left = in.get_count(sizeof(GroupKey)); left != 0; --left) {
    Parts& parts = other.groups_[in.get<GroupKey>()];
    for (auto parts_left = in.get_count(sizeof(std::uint32_t)); parts_left != 0; --parts_left) {
      const auto first = in.get<std::uint32_t>();
      parts.try_emplace(first, in.get_array<instrument::RankRange>());
    }
  }
  other.notices_ = Sentences::read(in);
  in.expect_end();
  merge(other);
}

}  // namespace ardoise::knowledge_sources
