#include "knowledge_sources/plugins/waits/wait_sums.hpp"

#include <algorithm>

#include "knowledge_sources/plugins/waits/origins.hpp"

namespace ardoise::knowledge_sources {

namespace {
double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::vector<double> of_program(std::span<const double> by_rank, const ProgramRanks& program) {
  const auto own = by_rank.subspan(program.first, program.ranks);
  return {own.begin(), own.end()};
}
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

void WaitSums::report_to_waiter(const Wait& wait) const {
  if (!wait.is_reported && wait.pattern != WaitPattern::kInit && wait.pattern != WaitPattern::kFinalize)
    on_waiter_(wait);
}

void WaitSums::add(const Wait& wait) {
  if (wait.ns == 0) return;
  if (!wait.certain) {
    counts_of(wait.waiter).uncertain_ns += wait.ns;
    return;
  }
  report_to_waiter(wait);
  sites_.add(wait);
  if (wait.pattern == WaitPattern::kInit) return;  // before the measured time
  ranks_[wait.waiter].waiting_ns += wait.ns;
  const std::size_t program = programs_->program_of(wait.waiter);
  of_programs_[program].over_time.add(wait.waiter - (*programs_)[program].first, wait);
  if (wait.awaited == kNobody) return;
  ranks_[wait.awaited].caused_ns += wait.ns;
  edges_[edge(wait.waiter, wait.awaited)] += wait.ns;
  causes_.add(wait);
  on_wait_(wait);
}

void WaitSums::OfProgram::add(const OfProgram& more) {
  over_time.merge(more.over_time);
  counts.calls.add(more.counts.calls);
  counts.ends.add(more.counts.ends);
  counts.resolved_calls += more.counts.resolved_calls;
  counts.messages += more.counts.messages;
  counts.uncertain_ns += more.counts.uncertain_ns;
}

void WaitSums::merge(const WaitSums& other) {
  sites_.merge(other.sites_);
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_[rank].waiting_ns += other.ranks_[rank].waiting_ns;
    ranks_[rank].caused_ns += other.ranks_[rank].caused_ns;
  }
  for (const auto& [pair, ns] : other.edges_) edges_[pair] += ns;
  for (std::size_t program = 0; program < of_programs_.size(); ++program)
    of_programs_[program].add(other.of_programs_[program]);
  causes_.merge(other.causes_);
  shared_.merge(other.shared_, [&](const Wait& wait) { add(wait); });
}

void WaitSums::write(ByteWriter& out) const {
  sites_.write(out);
  out.put_array(std::span<const OfRank>(ranks_));
  out.put_count(edges_.size());
  for (const auto& [pair, ns] : edges_) {
    out.put(pair);
    out.put(ns);
  }
  for (const OfProgram& each : of_programs_) {
    each.over_time.write(out);
    out.put(each.counts);
  }
  causes_.write(out);
  shared_.write(out);
}

void WaitSums::read(ByteReader& in) {
  sites_.read(in);
  auto ranks = in.get_array<OfRank>();
  in.check(ranks.size() == ranks_.size(), "belongs to a program with another number of ranks");
  ranks_ = std::move(ranks);
  for (auto left = in.get_count(2 * sizeof(std::uint64_t)); left != 0; --left) {
    const auto pair = in.get<std::uint64_t>();
    in.check((pair >> 32) < ranks_.size() && (pair & 0xFFFFFFFF) < ranks_.size(),
             "refers to a rank that does not exist");
    edges_[pair] += in.get<std::uint64_t>();
  }
  for (OfProgram& each : of_programs_) {
    each.over_time.read(in);
    each.counts = in.get<Counts>();
  }
  causes_.read(in);
  shared_.read(in, static_cast<std::uint32_t>(ranks_.size()));
}

bool WaitSums::all_ends_known_but(std::uint64_t incomplete) const {
  Unresolved ends;
  for (const OfProgram& each : of_programs_) ends.add(each.counts.ends);
  return ends.incomplete == incomplete && ends.folded == 0 && ends.beyond_room == 0 && ends.of_no_kind == 0;
}

std::vector<reports::WaitEdge> WaitSums::edges() const {
  std::vector<reports::WaitEdge> edges;
  for (const auto& [pair, ns] : edges_)
    edges.push_back(
        {static_cast<std::uint32_t>(pair >> 32), static_cast<std::uint32_t>(pair & 0xFFFFFFFF), seconds(ns)});
  std::ranges::sort(edges, {}, [](const auto& edge) { return std::pair(edge.waiter, edge.awaited); });
  return edges;
}

std::vector<double> WaitSums::caused_seconds() const {
  std::vector<double> caused;
  for (const OfRank& rank : ranks_) caused.push_back(seconds(rank.caused_ns));
  return caused;
}

std::vector<reports::WaitCause> WaitSums::causes(std::size_t program, const Resolver& resolver,
                                                 std::span<const std::vector<SampledPlace>> places,
                                                 const SampledRanks& contexts) const {
  std::vector<reports::WaitCause> causes;
  const ProgramRanks& own = (*programs_)[program];
  causes_.contribute(own, resolver, places, contexts, of_program(caused_seconds(), own), causes);
  return causes;
}

void WaitSums::contribute(std::size_t program, const Resolver& resolver,
                          std::span<const std::vector<SampledPlace>> places, const SampledRanks& contexts,
                          reports::Waiting& model) const {
  const ProgramRanks& own = (*programs_)[program];
  sites_.contribute(program, resolver, model);
  const auto edges = this->edges();
  const auto caused = caused_seconds();
  for (const reports::WaitEdge& edge : edges) {
    if (!own.has(edge.waiter)) continue;
    if (own.has(edge.awaited)) {
      model.edges.push_back({edge.waiter - own.first, edge.awaited - own.first, edge.seconds});
    } else {
      model.edges_between.push_back(edge);
    }
  }
  for (std::uint32_t rank = own.first; rank < own.first + own.ranks; ++rank)
    model.per_rank.waiting_seconds.push_back(seconds(ranks_[rank].waiting_ns));
  model.per_rank.caused_seconds = of_program(caused, own);
  model.per_rank.origin_seconds = of_program(origins_of(caused, causes_.held_up(), edges), own);
  model.causes = causes(program, resolver, places, contexts);
  const OfProgram& sums = of_programs_[program];
  sums.over_time.contribute(model.over_time);
  model.resolved_calls = sums.counts.resolved_calls;
  model.resolved_messages = sums.counts.messages;
  const auto counts = [](const Unresolved& of) {
    return reports::UnresolvedCounts{of.folded, of.incomplete, of.beyond_room, of.of_no_kind};
  };
  model.unresolved = {counts(sums.counts.calls), counts(sums.counts.ends), seconds(sums.counts.uncertain_ns)};
}

}  // namespace ardoise::knowledge_sources
