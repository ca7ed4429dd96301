#include "knowledge_sources/plugins/snapshots/loop_cuts.hpp"

#include <algorithm>
#include <utility>

#include "knowledge_sources/plugins/snapshots/in_step.hpp"
#include "knowledge_sources/plugins/snapshots/main_loop.hpp"
#include "knowledge_sources/plugins/snapshots/visits_in_a_step.hpp"

namespace ardoise::knowledge_sources {
namespace {

std::uint64_t scaled(std::uint64_t number, double part) {
  return static_cast<std::uint64_t>(static_cast<double>(number) * part);
}

// Samples and I/O of its first piece that precede the loop are left out, by their share of the time.
double part_in_round(const CallSeries& series, const Round& round) {
  if (round.left_out == 0) return 1;
  const CallSeries::Piece& piece = series.pieces()[round.first_piece];
  return 1 -
         static_cast<double>(round.left_out) / static_cast<double>(std::max<std::int64_t>(1, piece.call - piece.begin));
}

// Adds a rank's calls and its time outside of them.
void add_calls(const CallSeries& series, const Round& round, RoundSums& sums) {
  double own = static_cast<double>(round.end - round.begin), in_calls = 0;
  for (std::uint32_t piece = round.first_piece; piece < round.end_piece; ++piece) {
    series.for_each_call(series.pieces()[piece], [&](std::uint32_t site, const CallSums& call) {
      const std::uint64_t key = series.sites()[site].key;
      if (key != CallSeries::kFurtherSites && (key & (kIsSampled | kIsCounted)) != 0) return;
      in_calls += static_cast<double>(call.ns);
      if (key != CallSeries::kFurtherSites && (key & kIsPosix) != 0) return;
      sums.calls += static_cast<double>(call.calls);
      sums.bytes += static_cast<double>(call.bytes);
    });
  }
  own = std::max(0.0, own - in_calls);
  sums.seconds += own;
  sums.before += std::min(own, static_cast<double>(series.pieces()[round.first_piece].call - round.begin));
}

// The rounds of a loop as snapshots, with the sites of the series as ids; adds them to `sums`.
std::vector<Snapshot> snapshots_of(const CallSeries& series, const Loop& loop, std::vector<RoundSums>& sums) {
  std::vector<Snapshot> snapshots;
  const auto rounds = rounds_of(series, loop);
  sums.resize(std::max(sums.size(), rounds.size()));
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    add_calls(series, rounds[i], sums[i]);
    Snapshot& snapshot = snapshots.emplace_back();
    snapshot.begin = rounds[i].begin;
    snapshot.end = rounds[i].end;
    snapshot.ns = static_cast<std::uint64_t>(rounds[i].end - rounds[i].begin);
    snapshot.rounds = iterations_of(loop, i);
    for (std::uint32_t piece = rounds[i].first_piece; piece < rounds[i].end_piece; ++piece) {
      const double part = piece == rounds[i].first_piece ? part_in_round(series, rounds[i]) : 1;
      series.for_each_call(series.pieces()[piece], [&](std::uint32_t site, CallSums call) {
        if (part < 1 && series.sites()[site].visits == 0)
          call = {scaled(call.calls, part), scaled(call.ns, part), scaled(call.bytes, part), scaled(call.waited, part)};
        snapshot.calls.push_back({site, 0, call});
      });
    }
  }
  return snapshots;
}

// Joins the rounds of each step. Uses the sums of all ranks, for all alike: on a crowded machine every round waits.
void join_rounds(std::vector<RankCut>& cuts, std::vector<RoundSums> sums) {
  for (const RankCut& cut : cuts) {
    if (cut.rounds() != cut.snapshots.size()) return;  // already joined, for lack of memory
    sums.resize(std::min(sums.size(), cut.snapshots.size()));
  }
  const auto steps = steps_of(sums);
  if (steps.empty()) return;
  for (RankCut& cut : cuts) cut.snapshots = joined_by(steps, std::move(cut.snapshots));
}

using Loops = std::vector<std::vector<Loop>>;  // by rank

// Uses each rank's loop with about `most` rounds (plus or minus one).
LoopCuts cut_by(std::uint64_t most, const Loops& loops, std::span<const std::unique_ptr<RankSeries>> ranks,
                PlaceNodes& nodes) {
  LoopCuts found;
  std::vector<RoundSums> sums;
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
    found.cuts.push_back({rank, snapshots_of(calls, *loop, sums), found.keys[rank], {}, found.where[rank]});
    found.regular += loop->regular;
  }
  join_rounds(found.cuts, std::move(sums));
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
    const Loop* const main = main_loop(ranks[rank]->series(), loops[rank]);
    if (main == nullptr) continue;
    of_main.push_back(main->iterations);
    if (const Loop* const inner = inner_loop(loops[rank], *main)) of_inner.push_back(inner->iterations);
  }
  std::vector<LoopCuts> cuts;
  if (!of_main.empty()) cuts.push_back(cut_by(mode_of(of_main), loops, ranks, nodes));
  // In most ranks.
  if (2 * of_inner.size() > of_main.size()) cuts.push_back(cut_by(mode_of(of_inner), loops, ranks, nodes));
  // Joined to steps, its rounds may be those of the main loop.
  if (cuts.size() == 2 && cuts[1].cuts.front().rounds() < 2 * cuts[0].cuts.front().rounds()) cuts.pop_back();
  return cuts;
}

}  // namespace ardoise::knowledge_sources
