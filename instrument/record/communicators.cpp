#include "instrument/record/communicators.hpp"

#include <algorithm>
#include <string_view>

#include "instrument/format/event_format.hpp"
#include "instrument/format/rank_ranges.hpp"

namespace ardoise::instrument {
namespace {

std::uint64_t hash_of(const CommunicatorFacts& facts) {
  return facts.kind == CommunicatorKind::kInter ? group_hash(facts.local, facts.remote) : group_hash(facts.local);
}

std::uint64_t hash_with_topology(const CommunicatorFacts& facts) {
  std::uint64_t hash = hash_of(facts);
  for (const TopologyDimension& dimension : facts.cartesian)
    hash = (hash ^ (std::uint64_t{dimension.extent} << 1 | dimension.periodic)) * 0x9E3779B97F4A7C15u;
  return hash;
}

}  // namespace

bool Communicators::send(std::uint32_t comm, std::uint32_t instance, const CommunicatorFacts& facts) {
  std::vector<RankRange> ranges = encode_ranges(facts.local);
  const std::vector<RankRange> remote = encode_ranges(facts.remote);
  CommunicatorDefinition definition{comm,
                                    facts.kind,
                                    hash_of(facts),
                                    instance,
                                    static_cast<std::uint32_t>(facts.local.size()),
                                    facts.rank,
                                    static_cast<std::uint32_t>(facts.remote.size()),
                                    static_cast<std::uint32_t>(ranges.size()),
                                    static_cast<std::uint32_t>(remote.size()),
                                    0,
                                    0};
  ranges.insert(ranges.end(), remote.begin(), remote.end());
  if (!is_unsure() || known(comm) != nullptr) keep(definition, ranges, facts.name);
  const bool all = ranges.size() <= kRangesSentByAll || facts.rank == 0;
  std::span<const RankRange> rest(ranges.data(), all ? ranges.size() : 0);
  const std::string_view name = facts.name;
  do {
    definition.range_count = static_cast<std::uint32_t>(std::min<std::size_t>(rest.size(), kMaxRangesPerDefinition));
    if (!definitions_.add(definition, rest.first(definition.range_count), name)) return false;
    rest = rest.subspan(definition.range_count);
    definition.first_range += definition.range_count;
  } while (!rest.empty());
  if (facts.cartesian.empty()) return true;
  return definitions_.add(TopologyDefinition{comm, static_cast<std::uint32_t>(facts.cartesian.size())},
                          std::span<const TopologyDimension>(facts.cartesian));
}

void Communicators::keep(CommunicatorDefinition definition, const std::vector<RankRange>& ranges,
                         const std::string& name) {
  if (definition.comm >= kKept) return;
  definition.range_count = static_cast<std::uint32_t>(std::min<std::size_t>(ranges.size(), kMaxRangesPerDefinition));
  auto known =
      std::make_unique<const Known>(Known{definition, {ranges.begin(), ranges.begin() + definition.range_count}, name});
  known_[definition.comm].store(known.get(), std::memory_order_release);
  const MutexLock guard(lock_);
  kept_.push_back(std::move(known));
}

CollectivesDefinition Communicators::collectives(std::uint32_t comm) const noexcept {
  CollectivesDefinition all{comm, begun(comm), {}};
  for (std::size_t i = 0; i < CollectivesDefinition::kLast; ++i)
    all.last[i] = collectives_[comm].last[i].load(std::memory_order_relaxed);
  return all;
}

std::uint32_t Communicators::define(const CommunicatorFacts& facts, std::uint32_t thread) {
  std::uint32_t comm = 0, instance = 0;
  {
    const MutexLock guard(lock_);
    if (thread_ == kNoThread) thread_ = thread;
    if (thread != thread_) become_unsure();
    instance = created_[hash_of(facts)]++;
    Lately& lately = lately_[hash_with_topology(facts)];
    const std::uint32_t place = lately.created++ % kReuseAfter;
    if (place < lately.numbers.size()) {
      Numbered& old = numbers_[lately.numbers[place]];
      if (old.is_freed && !old.has_name && facts.name.empty()) {
        old.is_freed = false;
        return lately.numbers[place];
      }
    }
    if (numbers_.size() >= kUnnamedComm) return kUnnamedComm;
    comm = static_cast<std::uint32_t>(numbers_.size());
    numbers_.push_back({instance, false, !facts.name.empty()});
    if (place < lately.numbers.size()) {
      lately.numbers[place] = comm;
    } else {
      lately.numbers.push_back(comm);
    }
    defined_.store(comm + 1, std::memory_order_relaxed);
    if (comm < kKept) collectives_[comm].begun.store(0, std::memory_order_relaxed);
  }
  return send(comm, instance, facts) ? comm : kUnnamedComm;
}

void Communicators::release(std::uint32_t comm) {
  const MutexLock guard(lock_);
  if (comm < numbers_.size()) numbers_[comm].is_freed = true;
}

void Communicators::rename(std::uint32_t comm, const CommunicatorFacts& facts) {
  std::uint32_t instance = 0;
  {
    const MutexLock guard(lock_);
    if (comm >= numbers_.size()) return;
    instance = numbers_[comm].instance;
    numbers_[comm].has_name = true;
  }
  (void)send(comm, instance, facts);
}

std::uint32_t Communicators::number_window(std::uint32_t comm) {
  const MutexLock guard(lock_);
  return windows_[comm]++;
}

}  // namespace ardoise::instrument
