#include "knowledge_sources/plugins/snapshots/main_loop.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

namespace ardoise::knowledge_sources {
namespace {

constexpr double kLeastSpan = 0.3;     // of the rank's time, from the first visit to the last
constexpr double kLeastRegular = 0.8;  // of the rounds
constexpr double kNearlyAll = 0.8;     // of the sites in a round
constexpr std::uint64_t kMoreOften = 3;
constexpr double kAsOften = 0.95;  // relative to the most visited site of its class

using Sites = std::vector<std::uint32_t>;

// Grouped by visits: a site joins the class of the previous one if it was visited less than a tenth more often.
std::vector<Sites> classes_of(const CallSeries& series) {
  const auto& sites = series.sites();
  Sites order(sites.size());
  std::iota(order.begin(), order.end(), 0u);
  std::erase_if(order, [&](std::uint32_t each) { return sites[each].visits < kFewestIterations; });
  std::ranges::stable_sort(order, {}, [&](std::uint32_t each) { return sites[each].visits; });
  std::vector<Sites> classes;
  for (const std::uint32_t each : order) {
    if (classes.empty() || sites[each].visits > sites[classes.back().back()].visits * 11 / 10 + 1)
      classes.emplace_back();
    classes.back().push_back(each);
  }
  for (Sites& each : classes) {
    const auto most = static_cast<double>(sites[each.back()].visits);
    std::erase_if(each, [&](std::uint32_t site) { return static_cast<double>(sites[site].visits) < kAsOften * most; });
    std::ranges::sort(each);  // by first visit
  }
  return classes;
}

// Share of the rounds with nearly all of the sites, as often as the head.
double regularity(const CallSeries& series, const Loop& loop, std::span<const Round> rounds, const Sites& sites) {
  std::vector<std::uint64_t> calls(series.sites().size());  // in a round
  std::size_t regular = 0;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    for (const std::uint32_t site : sites) calls[site] = 0;
    for (std::uint32_t piece = rounds[i].first_piece; piece < rounds[i].end_piece; ++piece) {
      series.for_each_call(series.pieces()[piece],
                           [&](std::uint32_t site, const CallSums& sums) { calls[site] += sums.calls; });
    }
    const auto iterations = static_cast<double>(iterations_of(loop, i));
    const auto is_as_often = [&](std::uint32_t site) {
      const double left_out =
          std::max(0.0, 1 - static_cast<double>(series.sites()[site].visits) / static_cast<double>(loop.iterations));
      const double expected = iterations * (1 - left_out);
      return calls[site] != 0 && std::abs(static_cast<double>(calls[site]) - expected) <= 1 + 2 * iterations * left_out;
    };
    const auto found = static_cast<double>(std::ranges::count_if(sites, is_as_often));
    regular += found >= kNearlyAll * static_cast<double>(sites.size()) ? 1 : 0;
  }
  return static_cast<double>(regular) / static_cast<double>(rounds.size());
}

// For a loop of one call site, where regularity means nothing: share of the rounds with as many calls as the median
// round.
double likeness(const CallSeries& series, const Loop& loop, std::span<const Round> rounds) {
  std::vector<double> calls;  // of an iteration
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    std::uint64_t sum = 0;
    for (std::uint32_t piece = rounds[i].first_piece; piece < rounds[i].end_piece; ++piece) {
      series.for_each_call(series.pieces()[piece], [&](std::uint32_t site, const CallSums& sums) {
        if (series.sites()[site].visits != 0) sum += sums.calls;
      });
    }
    calls.push_back(static_cast<double>(sum) / static_cast<double>(iterations_of(loop, i)));
  }
  auto sorted = calls;
  std::ranges::sort(sorted);
  const double median = sorted[sorted.size() / 2];
  const auto alike = std::ranges::count_if(calls, [&](double each) { return std::abs(each - median) < 0.5; });
  return static_cast<double>(alike) / static_cast<double>(calls.size());
}

std::optional<Loop> loop_of(const CallSeries& series, const Sites& sites) {
  const auto head = std::ranges::find_if(sites, [&](std::uint32_t site) { return series.sites()[site].begins != 0; });
  if (head == sites.end()) return std::nullopt;
  const CallSeries::Site& site = series.sites()[*head];
  Loop loop{*head, site.visits, site.shift, static_cast<std::uint32_t>(sites.size()), 0};
  const auto rounds = rounds_of(series, loop);
  if (rounds.size() != ((loop.iterations - 1) >> loop.shift) + 1) return std::nullopt;  // the series is inconsistent
  const auto whole = static_cast<double>(series.last_begin() - series.pieces().front().begin);
  if (static_cast<double>(rounds.back().begin - rounds.front().begin) < kLeastSpan * whole) return std::nullopt;
  loop.regular = loop.sites == 1 ? likeness(series, loop, rounds) : regularity(series, loop, rounds, sites);
  if (loop.regular < kLeastRegular) return std::nullopt;
  return loop;
}

}  // namespace

std::vector<Loop> loops_of(const CallSeries& series) {
  std::vector<Loop> loops;
  for (const Sites& sites : classes_of(series)) {
    if (const auto loop = loop_of(series, sites)) loops.push_back(*loop);
  }
  return loops;
}

const Loop* main_loop(std::span<const Loop> loops) {
  if (loops.empty()) return nullptr;
  const Loop& widest = *std::ranges::max_element(loops, {}, &Loop::sites);
  const Loop* found = &widest;
  for (const Loop& loop : loops) {
    if (loop.sites * 2 >= widest.sites && loop.iterations >= kMoreOften * widest.iterations) found = &loop;
  }
  return found;
}

const Loop* inner_loop(std::span<const Loop> loops, const Loop& main) {
  const Loop* found = nullptr;
  for (const Loop& loop : loops) {
    if (loop.iterations >= kMoreOften * main.iterations && (found == nullptr || loop.sites > found->sites))
      found = &loop;
  }
  return found;
}

std::vector<Round> rounds_of(const CallSeries& series, const Loop& loop) {
  const auto& pieces = series.pieces();
  const auto& sites = series.sites();
  std::vector<Round> rounds;
  for (std::uint32_t piece = 0; piece < pieces.size(); ++piece) {
    if (pieces[piece].site == loop.head) {
      if (!rounds.empty()) rounds.back().end = pieces[piece].begin;
      if (!rounds.empty()) rounds.back().end_piece = piece;
      rounds.push_back({pieces[piece].begin, series.last_begin(), piece, static_cast<std::uint32_t>(pieces.size())});
    }
  }
  if (rounds.empty()) return rounds;
  Round& last = rounds.back();
  std::int64_t last_end = last.begin;
  for (const CallSeries::Site& site : sites) {
    if (static_cast<double>(site.visits) >= kAsOften * static_cast<double>(loop.iterations))
      last_end = std::max(last_end, site.last_end);
  }
  last.end = last_end;
  while (last.end_piece - 1 > last.first_piece && pieces[last.end_piece - 1].begin >= last.end) --last.end_piece;
  return rounds;
}

}  // namespace ardoise::knowledge_sources
