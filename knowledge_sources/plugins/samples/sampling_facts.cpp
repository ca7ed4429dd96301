#include "knowledge_sources/plugins/samples/sampling_facts.hpp"

#include <cmath>
#include <span>
#include <tuple>
#include <variant>

namespace ardoise::knowledge_sources {

// Of 257 sorted changes the middle one is never among the first 128 or the last 128 of all changes, so the result does
// not depend on the order.
void SamplingFacts::keep(Rank& rank, const SamplingChange& change) {
  rank.changes.insert(std::ranges::upper_bound(rank.changes, change), change);
  if (rank.changes.size() > kChanges) rank.changes.erase(rank.changes.begin() + kChanges / 2);
}

void SamplingFacts::set(Counters& into, const Counters& counters) {
  if (!counters.known) return;
  const auto key = [](const Counters& c) { return std::tie(c.unit, c.event, c.names); };
  if (!into.known || key(counters) < key(into)) into = counters;
}

void SamplingFacts::add(std::uint32_t rank, const instrument::Definition& definition) {
  Rank& place = ranks_[rank];
  if (const auto* const sampling = std::get_if<instrument::DecodedSampling>(&definition)) {
    const auto& fixed = sampling->fixed;
    ++place.all_changes;
    if (rank % step_ != 0) return;
    keep(place, {fixed.tick, fixed.thread, static_cast<std::uint32_t>(fixed.cause), fixed.lowest_level, fixed.free_bins,
                 fixed.hertz});
  } else if (const auto* const counters = std::get_if<instrument::DecodedCounters>(&definition)) {
    Counters fresh{true, counters->fixed.unit, std::string(counters->event), {}};
    for (std::uint32_t i = 0; i < counters->fixed.counters; ++i) fresh.names.emplace_back(counters->names[i]);
    set(place.counters, fresh);
  } else if (const auto* const totals = std::get_if<instrument::DecodedSamplerTotals>(&definition)) {
    const auto& fixed = totals->fixed;
    add_sums(place.totals, {ThreadTotals{fixed.thread, 0, fixed.taken, fixed.stored, fixed.discarded, fixed.partial,
                                         fixed.lost, fixed.cost_ticks, fixed.thread_ticks}});
  }
}

std::uint64_t SamplingFacts::left_out() const {
  std::uint64_t count = 0;
  for (const Rank& rank : ranks_)
    count += rank.all_changes - std::min<std::uint64_t>(rank.all_changes, rank.changes.size());
  return count;
}

void SamplingFacts::merge(const SamplingFacts& other) {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const Rank& from = other.ranks_[r];
    set(ranks_[r].counters, from.counters);
    add_sums(ranks_[r].totals, from.totals);
    for (const SamplingChange& change : from.changes) keep(ranks_[r], change);
    ranks_[r].all_changes += from.all_changes;
  }
}

void SamplingFacts::write(ByteWriter& out) const {
  out.put_count(ranks_.size());
  for (const Rank& rank : ranks_) {
    out.put(static_cast<std::uint8_t>(rank.counters.known));
    if (rank.counters.known) {
      out.put(rank.counters.unit);
      out.put_text(rank.counters.event);
      out.put_count(rank.counters.names.size());
      for (const std::string& name : rank.counters.names) out.put_text(name);
    }
    out.put_array(std::span<const ThreadTotals>(rank.totals));
    out.put_array(std::span<const SamplingChange>(rank.changes));
    out.put(rank.all_changes);
  }
}

void SamplingFacts::read(ByteReader& in) {
  in.check(in.get_count(1) == ranks_.size(), "belongs to a program with another number of ranks");
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    Rank& rank = ranks_[r];
    if (in.get<std::uint8_t>() != 0) {
      rank.counters.known = true;
      rank.counters.unit = in.get<instrument::SampleUnit>();
      in.check(rank.counters.unit <= instrument::SampleUnit::kEvents, "has an unknown unit of samples");
      rank.counters.event = in.get_text();
      rank.counters.names.resize(in.get_count(sizeof(std::uint32_t)));
      in.check(rank.counters.names.size() <= instrument::kMaxCounters, "has too many counters");
      for (std::string& name : rank.counters.names) name = in.get_text();
    }
    rank.totals = in.get_array<ThreadTotals>();
    in.check(is_summed_up(rank.totals), "lists threads out of order");
    rank.changes = in.get_array<SamplingChange>();
    in.check(std::ranges::is_sorted(rank.changes) && rank.changes.size() <= kChanges &&
                 (rank.changes.empty() || r % step_ == 0),
             "lists rates of sampling out of order");
    for (const SamplingChange& change : rank.changes) {
      in.check(std::isfinite(change.hertz) && change.hertz >= 0 && change.cause < instrument::kSamplingCauses,
               "has an impossible rate of sampling");
    }
    rank.all_changes = in.get<std::uint64_t>();
  }
}

}  // namespace ardoise::knowledge_sources
