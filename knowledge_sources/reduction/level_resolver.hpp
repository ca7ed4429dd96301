// The Resolver of one level, made from its complete definitions and accounts. Level makes one for contribute(); call
// sites are looked up in the binaries on first use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "knowledge_sources/interface/resolver.hpp"
#include "knowledge_sources/reduction/accounts.hpp"
#include "knowledge_sources/reduction/definition_store.hpp"
#include "knowledge_sources/symbols/symbolizer.hpp"

namespace ardoise::knowledge_sources {

struct Program;

class LevelResolver final : public Resolver {
 public:
  // Borrows all three.
  LevelResolver(const Program& program, const DefinitionStore& definitions, const Accounts& accounts);
  void set_world(std::vector<const Resolver*> resolvers) { of_world_ = std::move(resolvers); }

  std::string_view name() const override { return name_; }
  std::uint32_t ranks() const override { return static_cast<std::uint32_t>(processes_.size()); }
  WorldPart place() const override { return place_; }
  std::span<const Resolver* const> of_world() const override { return of_world_; }
  const ProcessFacts& process(std::uint32_t rank) const override { return processes_[rank]; }
  const RankLedger& ledger(std::uint32_t rank) const override { return accounts_.ledger(rank); }
  double seconds_per_tick(std::uint32_t rank) const override { return seconds_per_tick_[rank]; }
  std::span<const FunctionSums> sums(std::uint32_t rank) const override { return sums_[rank]; }
  std::int64_t world_rank(std::uint32_t rank, std::uint32_t comm, std::int32_t peer) const override;
  std::string_view communicator(std::uint32_t rank, std::uint32_t comm) const override;
  std::vector<CommunicatorOfRank> communicators_of(std::uint32_t rank) const override;
  std::vector<std::int64_t> members(std::uint32_t rank, std::uint32_t comm, bool is_remote) const override;
  const Location& call_site(std::uint32_t id) const override;
  ModuleFacts module(std::uint32_t rank, std::uint32_t module) const override;
  std::vector<SourceFrame> frames(const ModuleFacts& module, std::uint64_t offset) const override {
    return symbolizer_.frames(std::string(module.path), module.build_id, offset);
  }
  SourceFrame python(std::uint32_t rank, std::uint64_t offset) const override;
  std::span<const instrument::FileAccessDefinition> accesses(std::uint32_t rank) const override {
    return definitions_.ranks()[rank].accesses;
  }
  std::string_view file(std::uint32_t rank, std::uint32_t file) const override;
  std::optional<Cartesian> cartesian() const override;
  std::vector<CommunicatorFacts> communicators() const override;
  std::vector<std::string> notices() const override;

 private:
  // A list of members: own group, then remote group, as ranges with the position of each range's first member.
  struct Members {
    std::vector<instrument::RankRange> ranges;
    std::vector<std::uint64_t> begins;  // one more than ranges
    std::size_t own_ranges = 0;         // start of the remote group
    bool complete = false;              // no part is missing
  };
  // A member of the rank's own group, or of the remote one.
  [[nodiscard]] std::int64_t member_of(std::uint32_t rank, const CommFacts& comm, bool is_remote,
                                       std::uint64_t place) const;
  [[nodiscard]] const Members* members_of(std::uint32_t rank, const CommFacts& comm) const;
  // nullptr: the rank has none of that number.
  [[nodiscard]] const CommFacts* comm_facts(std::uint32_t rank, std::uint32_t comm) const;
  static Members assemble(const GroupKey& key, const DefinitionStore::Parts& parts);

  std::string name_;
  WorldPart place_;
  std::vector<const Resolver*> of_world_;
  const DefinitionStore& definitions_;
  const Accounts& accounts_;
  std::vector<ProcessFacts> processes_;
  std::vector<double> seconds_per_tick_;
  std::vector<std::vector<FunctionSums>> sums_;
  std::map<GroupKey, Members> groups_;
  mutable Symbolizer symbolizer_;
  mutable std::unordered_map<std::uint32_t, Location> locations_;
  mutable std::map<std::tuple<TextId, std::uint32_t, std::uint32_t>, std::uint32_t> python_lines_;  // of places
};

}  // namespace ardoise::knowledge_sources
