#include "knowledge_sources/plugins/snapshots/loop_cuts.hpp"

#include <algorithm>
#include <utility>

#include "knowledge_sources/plugins/snapshots/in_step.hpp"
#include "knowledge_sources/plugins/snapshots/main_loop.hpp"
#include "knowledge_sources/plugins/snapshots/visits_in_a_step.hpp"

namespace ardoise::knowledge_sources {
namespace {

// The rounds of a loop as snapshots, with the sites of the series as ids.
std::vector<Snapshot> snapshots_of(const CallSeries& series, const Loop& loop) {
  std::vector<Snapshot> snapshots;
  const auto rounds = rounds_of(series, loop);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    Snapshot& snapshot = snapshots.emplace_back();
    snapshot.begin = rounds[i].begin;
    snapshot.end = rounds[i].end;
    snapshot.ns = static_cast<std::uint64_t>(rounds[i].end - rounds[i].begin);
    snapshot.rounds = iterations_of(loop, i);
    for (std::uint32_t piece = rounds[i].first_piece; piece < rounds[i].end_piece; ++piece) {
      series.for_each_call(series.pieces()[piece], [&](std::uint32_t site, const CallSums& sums) {
        snapshot.calls.push_back({site, 0, sums});
      });
    }
  }
  return snapshots;
}

// ns outside of calls.
std::uint64_t own_time(const RankCut& cut, const Snapshot& snapshot) {
  std::uint64_t in_calls = 0;
  for (const CallCell& cell : snapshot.calls) {
    const std::uint64_t key = cut.keys[cell.id];
    if (key == CallSeries::kFurtherSites || (key & kIsSampled) == 0) in_calls += cell.sums.ns;
  }
  return snapshot.ns - std::min(snapshot.ns, in_calls);
}

// Uses the ranks' own time, for all ranks alike: on a crowded machine every round waits.
void join_visits(std::vector<RankCut>& cuts) {
  std::size_t rounds = SIZE_MAX;
  for (const RankCut& cut : cuts) {
    if (cut.rounds() != cut.snapshots.size()) return;  // already joined, for lack of memory
    rounds = std::min(rounds, cut.snapshots.size());
  }
  std::vector<double> seconds(rounds);
  for (const RankCut& cut : cuts) {
    for (std::size_t i = 0; i < rounds; ++i) seconds[i] += static_cast<double>(own_time(cut, cut.snapshots[i]));
  }
  const std::size_t visits = visits_in_a_step(seconds);
  if (visits == 1) return;
  for (RankCut& cut : cuts) cut.snapshots = joined_by(visits, std::move(cut.snapshots));
}

using Loops = std::vector<std::vector<Loop>>;  // by rank

// Uses each rank's loop with about `most` rounds (plus or minus one).
LoopCuts cut_by(std::uint64_t most, const Loops& loops, std::span<const std::unique_ptr<RankSeries>> ranks,
                PlaceNodes& nodes) {
  LoopCuts found;
  found.keys.resize(ranks.size());
  found.where.resize(ranks.size());
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const auto loop =
        std::ranges::find_if(loops[rank], [&](const Loop& each) { return are_about_as_many(each.iterations, most); });
    if (loop == loops[rank].end()) continue;
    const CallSeries& calls = ranks[rank]->series();
    found.keys[rank] = keys_of(calls);
    found.where[rank] = nodes.of_rank(rank);
    if (found.cuts.empty()) {
      found.head = found.keys[rank][loop->head];
      found.sites = loop->sites;
    }
    found.cuts.push_back({rank, snapshots_of(calls, *loop), found.keys[rank], {}, found.where[rank]});
    found.regular += loop->regular;
  }
  join_visits(found.cuts);
  found.regular /= static_cast<double>(found.cuts.size());
  return found;
}

}  // namespace

std::vector<std::uint64_t> keys_of(const CallSeries& series) {
  std::vector<std::uint64_t> keys;
  for (const CallSeries::Site& site : series.sites()) keys.push_back(site.key);
  return keys;
}

std::vector<LoopCuts> cut_by_loops(std::span<const std::unique_ptr<RankSeries>> ranks, PlaceNodes& nodes) {
  Loops loops(ranks.size());
  std::vector<std::uint64_t> of_main, of_inner;  // iterations
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank] || !ranks[rank]->is_whole() || !ranks[rank]->has_moments()) continue;
    loops[rank] = loops_of(ranks[rank]->series());
    const Loop* const main = main_loop(loops[rank]);
    if (main == nullptr) continue;
    of_main.push_back(main->iterations);
    if (const Loop* const inner = inner_loop(loops[rank], *main)) of_inner.push_back(inner->iterations);
  }
  std::vector<LoopCuts> cuts;
  if (!of_main.empty()) cuts.push_back(cut_by(mode_of(of_main), loops, ranks, nodes));
  // In most ranks.
  if (2 * of_inner.size() > of_main.size()) cuts.push_back(cut_by(mode_of(of_inner), loops, ranks, nodes));
  return cuts;
}

}  // namespace ardoise::knowledge_sources
