// definition_bytes.cpp has the encoding.
#include "knowledge_sources/reduction/definition_store.hpp"

#include <algorithm>
#include <variant>

namespace ardoise::knowledge_sources {
namespace {

// Inserts the entry, or calls meet(existing) if its number exists.
template <class Entry>
void put(std::vector<Entry>& entries, const Entry& entry, std::uint32_t Entry::*number, const auto& meet) {
  const auto place = std::ranges::lower_bound(entries, entry.*number, {}, number);
  if (place == entries.end() || (*place).*number != entry.*number) {
    entries.insert(place, entry);
  } else {
    meet(*place);
  }
}

}  // namespace

GroupKey group_key(const CommFacts& comm, std::int32_t lead) {
  const bool inter = comm.kind == instrument::CommunicatorKind::kInter;
  return {comm.group_hash,
          inter ? 1u : 0u,
          inter ? comm.instance : 0u,
          comm.ranges,
          comm.remote_ranges,
          inter ? lead : 0,
          0};
}

DefinitionStore::DefinitionStore(const AnalysisContext& context)
    : level_(context.level), first_rank_(context.first_rank), ranks_(context.ranks) {}

void DefinitionStore::attach(LevelSources& sources) {
  sources.add({"definitions@" + level_,
               {blackboard::entry_type(level_, kDefinitions)},
               [this](const blackboard::Context&, std::span<blackboard::EntryRef> entries) {
                 add(entries[0].as<DefinitionSpan>());
               }});
}

// Stores one decoded definition of one rank; the store is locked.
class DefinitionReceiver {
 public:
  DefinitionReceiver(DefinitionStore& store, const instrument::PackHeader& header)
      : store_(store), header_(header), rank_(store.ranks_[header.rank]) {}

  void operator()(const auto&) {}  // of a later minor version, or read by an analysis itself
  void operator()(const instrument::DecodedProcess& process) {
    rank_.has_process = true;
    rank_.process = process.fixed;
    rank_.program = intern(process.program);
    rank_.command_line = intern(process.command_line);
    rank_.host = intern(process.host);
    rank_.directory = intern(process.directory);
  }
  void operator()(const instrument::DecodedClock& clock) {
    store_.add_clock(rank_, clock.fixed, intern(clock.name), intern(clock.node));
  }
  void operator()(const instrument::DecodedUsage& usage) {
    rank_.has_usage = true;
    rank_.usage = usage.fixed;
  }
  void operator()(const instrument::DecodedModule& module) {
    store_.add_module(rank_, {module.fixed.module, intern(module.path), intern(module.build_id)});
  }
  void operator()(const instrument::DecodedCallSite& site) {
    store_.add_call_site(site.fixed.call_site, {header_.rank, site.fixed.module, site.fixed.offset});
  }
  void operator()(const instrument::DecodedShortRuns& runs) {
    store_.add_short_runs(runs.fixed.call_site, runs.fixed.run_bytes);
  }
  void operator()(const instrument::DecodedCommunicator& comm) {
    const auto& fixed = comm.fixed;
    const CommFacts facts{fixed.group_hash,  fixed.kind,   fixed.instance,     fixed.size,
                          fixed.remote_size, fixed.ranges, fixed.remote_ranges};
    store_.add_comm(rank_, fixed.comm, facts);
    if (!comm.name.empty()) store_.add_comm_name(rank_, {fixed.comm, intern(comm.name), header_.sequence + 1});
    if (!comm.ranges.empty()) {
      // A list in several parts comes from the group's first member.
      const std::int32_t lead = fixed.first_range == 0 ? comm.ranges.front().start
                                                       : static_cast<std::int32_t>(store_.first_rank_ + header_.rank);
      store_.groups_[group_key(facts, lead)].try_emplace(fixed.first_range, comm.ranges.begin(), comm.ranges.end());
    }
  }
  void operator()(const instrument::DecodedTopology& topology) {
    DefinitionStore::add_topology(rank_,
                                  {topology.fixed.comm, {topology.dimensions.begin(), topology.dimensions.end()}});
  }
  void operator()(const instrument::DecodedFile& file) { store_.add_file(rank_, {file.fixed.file, intern(file.path)}); }
  void operator()(const instrument::DecodedFileAccess& access) { DefinitionStore::add_access(rank_, access.fixed); }
  void operator()(const instrument::DecodedMemory& memory) {
    rank_.memory = memory.fixed;
    rank_.memory_points.assign(memory.points.begin(), memory.points.end());
  }
  void operator()(const instrument::DecodedPythonCode& code) {
    DefinitionStore::add_python(rank_, {code.fixed.code, code.fixed.minor, code.fixed.first_line, intern(code.name),
                                        intern(code.file), intern(code.lines)});
  }
  void operator()(const instrument::DecodedThread& thread) {
    rank_.threads = std::max(rank_.threads, thread.fixed.thread + 1);
  }
  void operator()(const instrument::DecodedNotice& notice) { store_.notices_.add(std::string(notice.text)); }

 private:
  TextId intern(std::string_view text) { return store_.strings_.intern(text); }
  DefinitionStore& store_;
  const instrument::PackHeader& header_;
  RankDefinitions& rank_;
};

void DefinitionStore::add(const DefinitionSpan& span) {
  const std::scoped_lock guard(mutex_);
  DefinitionReceiver receiver(*this, *span.header);
  instrument::DefinitionReader reader(span.records);
  while (const auto definition = reader.next()) std::visit(receiver, *definition);
}

void DefinitionStore::add_clock(RankDefinitions& rank, const instrument::ClockDefinition& clock, TextId name,
                                TextId node) {
  if (rank.has_clock && clock.tick <= rank.clock.tick) return;
  rank.has_clock = true;
  rank.clock = clock;
  rank.clock_name = name;
  rank.node = node;
}

void DefinitionStore::add_module(RankDefinitions& rank, const ModuleEntry& entry) {
  const auto key = [&](const ModuleEntry& each) { return std::pair(text(each.path), text(each.build_id)); };
  put(rank.modules, entry, &ModuleEntry::module, [&](ModuleEntry& other) {
    if (key(entry) < key(other)) other = entry;
  });
}

void DefinitionStore::add_file(RankDefinitions& rank, const FileEntry& entry) {
  put(rank.files, entry, &FileEntry::file, [&](FileEntry& other) {
    if (text(entry.path) < text(other.path)) other = entry;
  });
}

void DefinitionStore::add_comm(RankDefinitions& rank, std::uint32_t comm, const CommFacts& facts) {
  const auto [number, is_new] = comm_facts_number_.insert(facts, static_cast<std::uint32_t>(comm_facts_.size()));
  if (is_new) comm_facts_.push_back(facts);
  put(rank.comms, CommEntry{comm, *number}, &CommEntry::comm, [](const CommEntry&) {});
}

void DefinitionStore::add_comm_name(RankDefinitions& rank, const CommNameEntry& entry) {
  const auto key = [&](const CommNameEntry& each) { return std::pair(each.sequence, text(each.name)); };
  put(rank.comm_names, entry, &CommNameEntry::comm, [&](CommNameEntry& other) {
    if (key(entry) > key(other)) other = entry;
  });
}

void DefinitionStore::add_topology(RankDefinitions& rank, const TopologyEntry& entry) {
  put(rank.topologies, entry, &TopologyEntry::comm, [](const TopologyEntry&) {});
}

void DefinitionStore::add_python(RankDefinitions& rank, const PythonEntry& entry) {
  put(rank.python, entry, &PythonEntry::code, [](const PythonEntry&) {});
}

void DefinitionStore::add_access(RankDefinitions& rank, const instrument::FileAccessDefinition& access) {
  put(rank.accesses, access, &instrument::FileAccessDefinition::file, [](const auto&) {});
}

void DefinitionStore::add_call_site(std::uint32_t id, const CallSiteEntry& entry) {
  const auto [place, added] = call_sites_.try_emplace(id, entry);
  if (added) return;
  // By the offset alone: each process numbers its modules and Python functions itself, and may define them later.
  const auto offset = [](const CallSiteEntry& site) {
    return site.module == instrument::kPythonModule ? site.offset & UINT32_MAX : site.offset;
  };
  if (offset(entry) != offset(place->second)) ambiguous_call_sites_.insert(id);
  if (entry < place->second) place->second = entry;
}

void DefinitionStore::add_short_runs(std::uint32_t call_site, std::uint32_t run_bytes) {
  const auto [place, added] = short_runs_.try_emplace(call_site, run_bytes);
  if (!added) place->second = std::min(place->second, run_bytes);
}

void DefinitionStore::merge(const DefinitionStore& other) {
  const auto adopt = [&](TextId id) { return strings_.intern(other.text(id)); };
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    RankDefinitions& into = ranks_[r];
    const RankDefinitions& from = other.ranks_[r];
    if (from.has_process && !into.has_process) {
      into.has_process = true;
      into.process = from.process;
      into.program = adopt(from.program);
      into.command_line = adopt(from.command_line);
      into.host = adopt(from.host);
      into.directory = adopt(from.directory);
    }
    if (from.has_usage) {
      into.has_usage = true;
      into.usage = from.usage;
    }
    if (!from.memory_points.empty()) {
      into.memory = from.memory;
      into.memory_points = from.memory_points;
    }
    if (from.has_clock) add_clock(into, from.clock, adopt(from.clock_name), adopt(from.node));
    into.threads = std::max(into.threads, from.threads);
    for (const auto& entry : from.modules) add_module(into, {entry.module, adopt(entry.path), adopt(entry.build_id)});
    for (const auto& entry : from.files) add_file(into, {entry.file, adopt(entry.path)});
    for (const auto& access : from.accesses) add_access(into, access);
    for (PythonEntry entry : from.python) {
      for (TextId* text : {&entry.name, &entry.file, &entry.lines}) *text = adopt(*text);
      add_python(into, entry);
    }
    for (const auto& entry : from.comms) add_comm(into, entry.comm, other.comm_facts(entry));
    for (const auto& entry : from.comm_names) add_comm_name(into, {entry.comm, adopt(entry.name), entry.sequence});
    for (const auto& entry : from.topologies) add_topology(into, entry);
  }
  for (const auto& [id, entry] : other.call_sites_) add_call_site(id, entry);
  for (const auto& [site, run_bytes] : other.short_runs_) add_short_runs(site, run_bytes);
  ambiguous_call_sites_.insert(other.ambiguous_call_sites_.begin(), other.ambiguous_call_sites_.end());
  for (const auto& [key, parts] : other.groups_) {
    for (const auto& [first, ranges] : parts) groups_[key].try_emplace(first, ranges);
  }
  notices_.merge(other.notices_);
}

}  // namespace ardoise::knowledge_sources
