#include "knowledge_sources/plugins/waits/causes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "knowledge_sources/plugins/waits/function_delays.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr double kLeast = 0.01;         // of the waiting for a rank: causes of less are omitted
constexpr std::size_t kMostRanks = 32;  // the ranks with most waiting for them, for which causes are listed

}  // namespace

void Causes::add_sampled(const Key& key, const Sampled& more) {
  Sampled* sums = sampled_.find(key);
  if (sums == nullptr) {
    if (sampled_.size() >= kMostEntries && key.place != 0) return add_sampled({key.awaited, key.rank, 0}, more);
    sums = sampled_.insert(key, Sampled{}).first;
  }
  sums->ns += more.ns;
  sums->squares += more.squares;
}

void Causes::add(const Wait& wait) {
  Delay& delay = delays_[wait.awaited];
  const auto count = [&](const Stretch& stretch, std::uint32_t rank, bool for_it) {
    const auto ns = [](float value) {
      return static_cast<std::uint64_t>(std::llround(std::clamp(value, 0.0f, 1e18f)));
    };
    const std::uint64_t sampled = ns(stretch.sampled), sign = for_it ? 1 : ~std::uint64_t{0};
    delay.add({sign * ns(stretch.mpi), sign * sampled, sign * (ns(stretch.all) - ns(stretch.mpi) - sampled)});
    if (sampled == 0) return;
    const std::uint64_t us = std::min<std::uint64_t>(sampled / 1000, 1'000'000'000);
    add_sampled({wait.awaited, rank, stretch.place}, {sampled, us * us});
  };
  count(wait.of_awaited, wait.awaited, true);
  count(wait.of_waiter, wait.waiter, false);
}

void Causes::merge(const Causes& other) {
  for (std::size_t rank = 0; rank < delays_.size(); ++rank) delays_[rank].add(other.delays_[rank]);
  other.sampled_.for_each([&](const Key& key, const Sampled& sums) { add_sampled(key, sums); });
}

void Causes::write(ByteWriter& out) const {
  out.put_array(std::span<const Delay>(delays_));
  out.put_count(sampled_.size());
  sampled_.for_each([&](const Key& key, const Sampled& sums) {
    out.put(key);
    out.put(sums);
  });
}

void Causes::read(ByteReader& in) {
  auto delays = in.get_array<Delay>();
  in.check(delays.size() == delays_.size(), "belongs to a program with another number of ranks");
  delays_ = std::move(delays);
  for (auto left = in.get_count(sizeof(Key) + sizeof(Sampled)); left != 0; --left) {
    const Key key = in.get<Key>();
    in.check(key.awaited < delays_.size() && key.rank < delays_.size(), "refers to a rank that does not exist");
    add_sampled(key, in.get<Sampled>());
  }
}

std::vector<double> Causes::held_up() const {
  std::vector<double> result;
  for (const Delay& delay : delays_) {
    const double mpi = std::max(0.0, signed_ns(delay.mpi));
    const double rest = std::max(0.0, signed_ns(delay.sampled + delay.other));
    result.push_back(mpi > 0 ? mpi / (mpi + rest) : 0);
  }
  return result;
}

void Causes::contribute(const ProgramRanks& program, const Resolver& resolver,
                        std::span<const std::vector<SampledPlace>> places, const SampledRanks& contexts,
                        std::span<const double> caused, std::vector<reports::WaitCause>& out) const {
  std::vector<std::uint32_t> ranks(program.ranks);
  std::iota(ranks.begin(), ranks.end(), 0u);
  std::ranges::stable_sort(ranks, std::ranges::greater{}, [&](std::uint32_t rank) { return caused[rank]; });
  ranks.resize(std::min(ranks.size(), kMostRanks));
  FunctionDelays delays(resolver, places, contexts);
  sampled_.for_each([&](const Key& key, const Sampled& sums) {
    const std::uint32_t awaited = key.awaited - program.first;
    if (!program.has(key.rank) || std::ranges::find(ranks, awaited) == ranks.end()) return;
    delays.add({awaited, key.rank - program.first, key.place, static_cast<double>(sums.ns),
                static_cast<double>(sums.squares) * 1e6});
  });
  const auto by_rank = delays.functions();
  for (const std::uint32_t rank : ranks) {
    if (!(caused[rank] > 0)) break;
    std::vector<reports::WaitCause> causes;
    FunctionDelay not_told;
    const Delay& delay = delays_[program.first + rank];
    not_told.ns = signed_ns(delay.other);
    if (const auto functions = by_rank.find(rank); functions != by_rank.end()) {
      for (const FunctionDelay& each : functions->second) {
        not_told.squares += each.squares;
        if (each.ns > 0 && may_be_chance(each.ns, each.squares)) {
          not_told.ns += each.ns;
          continue;
        }
        causes.push_back({rank, each.symbol, each.source_file, each.line, each.io ? "io" : "computation",
                          each.ns * 1e-9, each.half_width() * 1e-9});
      }
    }
    causes.push_back({rank, "", "", 0, "mpi", signed_ns(delay.mpi) * 1e-9, 0});
    causes.push_back({rank, "", "", 0, "other", not_told.ns * 1e-9, not_told.half_width() * 1e-9});
    // Things that it did less are no cause; the rest may then exceed the waiting time.
    std::erase_if(causes, [](const auto& each) { return !(each.seconds > 0); });
    const double all = std::transform_reduce(causes.begin(), causes.end(), 0.0, std::plus{},
                                             [](const auto& each) { return each.seconds; });
    const double scale = all > caused[rank] ? caused[rank] / all : 1;
    for (auto& each : causes) {
      each.seconds *= scale;
      each.error *= scale;
    }
    std::erase_if(causes, [&](const auto& each) { return each.seconds < kLeast * caused[rank]; });
    std::ranges::stable_sort(causes, std::ranges::greater{}, &reports::WaitCause::seconds);
    out.insert(out.end(), causes.begin(), causes.end());
  }
}

}  // namespace ardoise::knowledge_sources
