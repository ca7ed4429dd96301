// See wait_sums.hpp.
#include "knowledge_sources/waits/wait_sums.hpp"

#include <algorithm>

#include "knowledge_sources/waits/origins.hpp"

namespace ardoise::knowledge_sources {

namespace {
double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }
}  // namespace

void Unresolved::add(const Unresolved& more) {
  folded += more.folded;
  incomplete += more.incomplete;
  beyond_room += more.beyond_room;
  of_no_kind += more.of_no_kind;
}

void WaitSums::add(std::span<const Wait> waits) {
  for (const Wait& wait : waits) {
    if (wait.operations <= 1) {
      add(wait);
    } else if (!send_(wait)) {
      add_shared(wait);
    }
  }
}

void WaitSums::add_shared(const Wait& wait) {
  if (const auto greatest = shared_.add(wait)) add(*greatest);
}

void WaitSums::tell_waiter(const Wait& wait) const {
  if (!wait.is_told && wait.pattern != WaitPattern::kInit && wait.pattern != WaitPattern::kFinalize) tell_waiter_(wait);
}

void WaitSums::add(const Wait& wait) {
  if (wait.ns == 0) return;
  if (!wait.certain) {
    uncertain_ns_ += wait.ns;
    return;
  }
  tell_waiter(wait);
  sites_.add(wait);
  if (wait.pattern == WaitPattern::kInit) return;  // before the time that is measured
  ranks_[wait.waiter].waiting_ns += wait.ns;
  over_time_.add(wait);
  if (wait.awaited == kNobody) return;
  ranks_[wait.awaited].caused_ns += wait.ns;
  edges_[edge(wait.waiter, wait.awaited)] += wait.ns;
  causes_.add(wait);
  tell_(wait);
}

void WaitSums::merge(const WaitSums& other) {
  sites_.merge(other.sites_);
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_[rank].waiting_ns += other.ranks_[rank].waiting_ns;
    ranks_[rank].caused_ns += other.ranks_[rank].caused_ns;
  }
  for (const auto& [pair, ns] : other.edges_) edges_[pair] += ns;
  over_time_.merge(other.over_time_);
  causes_.merge(other.causes_);
  shared_.merge(other.shared_, [&](const Wait& wait) { add(wait); });
  unresolved_calls_.add(other.unresolved_calls_);
  unresolved_ends_.add(other.unresolved_ends_);
  resolved_calls_ += other.resolved_calls_;
  messages_ += other.messages_;
  uncertain_ns_ += other.uncertain_ns_;
}

void WaitSums::write(ByteWriter& out) const {
  sites_.write(out);
  out.put_array(std::span<const OfRank>(ranks_));
  out.put_count(edges_.size());
  for (const auto& [pair, ns] : edges_) {
    out.put(pair);
    out.put(ns);
  }
  over_time_.write(out);
  causes_.write(out);
  shared_.write(out);
  out.put(unresolved_calls_);
  out.put(unresolved_ends_);
  out.put(resolved_calls_);
  out.put(messages_);
  out.put(uncertain_ns_);
}

void WaitSums::read(ByteReader& in) {
  sites_.read(in);
  auto ranks = in.get_array<OfRank>();
  in.check(ranks.size() == ranks_.size(), "is of a program with another number of ranks");
  ranks_ = std::move(ranks);
  for (auto left = in.get_count(2 * sizeof(std::uint64_t)); left != 0; --left) {
    const auto pair = in.get<std::uint64_t>();
    in.check((pair >> 32) < ranks_.size() && (pair & 0xFFFFFFFF) < ranks_.size(), "names a rank that is not there");
    edges_[pair] += in.get<std::uint64_t>();
  }
  over_time_.read(in);
  causes_.read(in);
  shared_.read(in, static_cast<std::uint32_t>(ranks_.size()));
  unresolved_calls_ = in.get<Unresolved>();
  unresolved_ends_ = in.get<Unresolved>();
  resolved_calls_ = in.get<std::uint64_t>();
  messages_ = in.get<std::uint64_t>();
  uncertain_ns_ = in.get<std::uint64_t>();
}

void WaitSums::contribute(const Resolver& resolver, std::span<const std::vector<SampledPlace>> places,
                          const SampledRanks& contexts, reports::Waiting& model) const {
  sites_.contribute(resolver, model);
  for (const auto& [pair, ns] : edges_) {
    model.edges.push_back(
        {static_cast<std::uint32_t>(pair >> 32), static_cast<std::uint32_t>(pair & 0xFFFFFFFF), seconds(ns)});
  }
  std::ranges::sort(model.edges, [](const auto& a, const auto& b) {
    return std::pair(a.waiter, a.awaited) < std::pair(b.waiter, b.awaited);
  });
  for (const OfRank& rank : ranks_) {
    model.per_rank.waiting_seconds.push_back(seconds(rank.waiting_ns));
    model.per_rank.caused_seconds.push_back(seconds(rank.caused_ns));
  }
  model.per_rank.origin_seconds = origins_of(model.per_rank.caused_seconds, causes_.held_up(), model.edges);
  causes_.contribute(resolver, places, contexts, model.per_rank.caused_seconds, model.causes);
  over_time_.contribute(model.over_time);
  model.resolved_calls = resolved_calls_;
  model.resolved_messages = messages_;
  const auto counts = [](const Unresolved& of) {
    return reports::UnresolvedCounts{of.folded, of.incomplete, of.beyond_room, of.of_no_kind};
  };
  model.unresolved = {counts(unresolved_calls_), counts(unresolved_ends_), seconds(uncertain_ns_)};
}

}  // namespace ardoise::knowledge_sources
