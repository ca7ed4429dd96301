#include "knowledge_sources/plugins/snapshots/main_loop.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "knowledge_sources/plugins/snapshots/visits_in_a_step.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr double kLeastSpan = 0.3;      // of the rank's time, from the first visit to the last
constexpr double kMostOfRun = 0.5;      // likewise: below it, the loop must have most calls
constexpr double kMostInOne = 0.5;      // of the span, in the longest round
constexpr double kHoldsTogether = 0.6;  // of the longest span of a loop
constexpr double kLeastRegular = 0.8;   // of the rounds
constexpr double kNearlyAll = 0.8;      // of the sites in a round
constexpr std::uint64_t kMoreOften = 3;
constexpr double kAsOften = 0.95;    // relative to the most visited site of its class
constexpr double kPartOfRound = 0.5;  // of an inner loop: more time is that of an outer one
constexpr double kRoundsOfWork = 3;  // of an inner loop: the outer one has work of its own

using Sites = std::vector<std::uint32_t>;

// Grouped by visits: at most a twentieth more than the least visited one.
std::vector<Sites> classes_of(const CallSeries& series) {
  const auto& sites = series.sites();
  Sites order(sites.size());
  std::iota(order.begin(), order.end(), 0u);
  std::erase_if(order, [&](std::uint32_t each) { return sites[each].visits < kFewestIterations; });
  std::ranges::stable_sort(order, {}, [&](std::uint32_t each) { return sites[each].visits; });
  std::vector<Sites> classes;
  for (const std::uint32_t each : order) {
    const auto most = [&] { return static_cast<double>(sites[classes.back().front()].visits) / kAsOften + 1; };
    if (classes.empty() || static_cast<double>(sites[each].visits) > most()) classes.emplace_back();
    classes.back().push_back(each);
  }
  for (Sites& each : classes) std::ranges::sort(each);  // by first visit
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

// For a loop of one call site, where regularity means nothing: share of the rounds that are like the median round, in
// calls or, of many rounds, in time.
double likeness(const CallSeries& series, const Loop& loop, std::span<const Round> rounds) {
  constexpr std::size_t kMany = 20;
  std::vector<double> calls, lengths;  // of an iteration
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    std::uint64_t sum = 0;
    for (std::uint32_t piece = rounds[i].first_piece; piece < rounds[i].end_piece; ++piece) {
      series.for_each_call(series.pieces()[piece], [&](std::uint32_t site, const CallSums& sums) {
        if (series.sites()[site].visits != 0) sum += sums.calls;
      });
    }
    const auto iterations = static_cast<double>(iterations_of(loop, i));
    calls.push_back(static_cast<double>(sum) / iterations);
    lengths.push_back(static_cast<double>(rounds[i].end - rounds[i].begin) / iterations);
  }
  const double usual_calls = median_of(calls), usual = median_of(lengths);
  const auto alike = std::ranges::count_if(calls, [&](double each) { return std::abs(each - usual_calls) < 0.5; });
  const auto as_long =
      std::ranges::count_if(lengths, [&](double each) { return each > usual / 2 && each < 2 * usual; });
  return static_cast<double>(rounds.size() < kMany ? alike : std::max(alike, as_long)) /
         static_cast<double>(rounds.size());
}

// Most visits of the rank are between the first and the last of the loop.
bool has_most_calls(const CallSeries& series, const Round& first, const Round& last) {
  std::uint64_t inside = 0, all = 0;
  for (std::uint32_t piece = 0; piece < series.pieces().size(); ++piece) {
    series.for_each_call(series.pieces()[piece], [&](std::uint32_t site, const CallSums& sums) {
      if (series.sites()[site].visits == 0) return;
      all += sums.calls;
      if (piece >= first.first_piece && piece < last.first_piece) inside += sums.calls;
    });
  }
  return 2 * inside >= all;
}

std::optional<Loop> loop_of(const CallSeries& series, const Sites& sites) {
  const auto head = std::ranges::find_if(sites, [&](std::uint32_t site) { return series.sites()[site].begins != 0; });
  if (head == sites.end()) return std::nullopt;
  const CallSeries::Site& site = series.sites()[*head];
  Loop loop{*head, site.visits, site.shift, static_cast<std::uint32_t>(sites.size()), 0, 0};
  const auto rounds = rounds_of(series, loop);
  if (rounds.size() != ((loop.iterations - 1) >> loop.shift) + 1) return std::nullopt;  // the series is inconsistent
  const auto whole = static_cast<double>(series.last_begin() - series.pieces().front().begin);
  auto span = static_cast<double>(rounds.back().begin - rounds.front().begin);
  if (rounds.size() > 1) {
    // A round with most of the time and most of the calls is none: the site is visited in the setup and at the end.
    const auto length = [](const Round& round) { return round.end - round.begin; };
    const auto longest = std::ranges::max_element(rounds.begin(), rounds.end() - 1, {}, length);
    const auto most = static_cast<double>(length(*longest));
    if (most > kMostInOne * span && has_most_calls(series, *longest, *(longest + 1))) span -= most;
  }
  loop.span = span / std::max(whole, 1.0);
  if (loop.span < kLeastSpan) return std::nullopt;
  if (loop.span < kMostOfRun && !has_most_calls(series, rounds.front(), rounds.back())) return std::nullopt;
  loop.regular = loop.sites == 1 ? likeness(series, loop, rounds) : regularity(series, loop, rounds, sites);
  if (loop.regular < kLeastRegular) return std::nullopt;
  return loop;
}

// ns outside of calls.
double own_time(const CallSeries& series, const Round& round) {
  auto own = static_cast<double>(round.end - round.begin);
  for (std::uint32_t piece = round.first_piece; piece < round.end_piece; ++piece) {
    series.for_each_call(series.pieces()[piece], [&](std::uint32_t site, const CallSums& sums) {
      if ((series.sites()[site].key & (kIsSampled | kIsCounted)) == 0) own -= static_cast<double>(sums.ns);
    });
  }
  return std::max(own, 0.0);
}

// The calls of `few` come along in some rounds of `many`. If `many` has more sites, these rounds have no more work than
// others; if not, they take hardly longer either: an output of some steps may have more sites than a step.
bool rides_on(const CallSeries& series, const Loop& few, const Loop& many) {
  if (many.iterations < kMoreOften * few.iterations) return false;
  const bool has_more_sites = few.sites < many.sites;
  std::vector<double> with, without;
  for (const Round& round : rounds_of(series, many)) {
    bool has = false;
    for (std::uint32_t piece = round.first_piece; piece < round.end_piece; ++piece)
      series.for_each_call(series.pieces()[piece], [&](std::uint32_t site, const CallSums& sums) {
        has |= site == few.head && sums.calls != 0;
      });
    (has ? with : without)
        .push_back(has_more_sites ? own_time(series, round) : static_cast<double>(round.end - round.begin));
  }
  if (with.empty() || without.empty()) return has_more_sites;  // in each piece of many rounds: its work does not show
  const double usual = median_of(without), each = usual / static_cast<double>(std::uint64_t{1} << many.shift);
  if (has_more_sites) return median_of(with) <= usual + kRoundsOfWork * each;
  const auto long_one = without.begin() + static_cast<std::ptrdiff_t>(without.size() * 9 / 10);
  std::ranges::nth_element(without, long_one);  // a step may have several rounds, one with most of its work
  return many.shift == 0 && median_of(with) <= *long_one + kPartOfRound * usual;
}

}  // namespace

std::vector<Loop> loops_of(const CallSeries& series) {
  std::vector<Loop> loops;
  for (const Sites& sites : classes_of(series)) {
    if (const auto loop = loop_of(series, sites)) loops.push_back(*loop);
  }
  return loops;
}

const Loop* main_loop(const CallSeries& series, std::span<const Loop> loops) {
  if (loops.empty()) return nullptr;
  const double longest = std::ranges::max_element(loops, {}, &Loop::span)->span;
  const Loop* found = nullptr;
  for (const Loop& loop : loops) {
    if (loop.span < kHoldsTogether * longest) continue;
    if (found == nullptr || rides_on(series, *found, loop)) found = &loop;
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
  std::vector<double> before;  // ns from the begin of a piece to its call
  for (std::uint32_t piece = 0; piece < pieces.size(); ++piece) {
    if (pieces[piece].site != loop.head) continue;
    if (!rounds.empty()) {
      rounds.back().end = pieces[piece].begin;
      rounds.back().end_piece = piece;
      before.push_back(static_cast<double>(pieces[piece].call - pieces[piece].begin));
    }
    rounds.push_back({pieces[piece].begin, series.last_begin(), 0, piece, static_cast<std::uint32_t>(pieces.size())});
  }
  if (rounds.empty()) return rounds;
  Round& first = rounds.front();
  const std::int64_t call = pieces[first.first_piece].call;
  // The time before nine of ten rounds: a step may have several.
  const auto long_one = before.begin() + static_cast<std::ptrdiff_t>(before.size() * 9 / 10);
  if (!before.empty()) std::ranges::nth_element(before, long_one);
  const std::int64_t usual = before.empty() ? 0 : static_cast<std::int64_t>(*long_one);
  const std::int64_t begin = std::max(first.begin, call - usual);
  first.left_out = begin - first.begin;
  first.begin = begin;
  Round& last = rounds.back();
  // Sites that are visited more often may be visited after the loop, too.
  std::int64_t longest = 0, of_others = last.begin;
  for (std::size_t i = 0; i + 1 < rounds.size(); ++i) longest = std::max(longest, rounds[i].end - rounds[i].begin);
  last.end = last.begin;
  for (const CallSeries::Site& site : sites) {
    const double times = static_cast<double>(site.visits) / static_cast<double>(loop.iterations);
    if (times < kAsOften) continue;
    std::int64_t& end = times > 1 / kAsOften ? of_others : last.end;
    end = std::max(end, site.last_end);
  }
  last.end = std::max(last.end, std::min(of_others, last.begin + longest));
  while (last.end_piece - 1 > last.first_piece && pieces[last.end_piece - 1].begin >= last.end) --last.end_piece;
  return rounds;
}

}  // namespace ardoise::knowledge_sources
