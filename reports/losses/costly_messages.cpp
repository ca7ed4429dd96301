// Messages that cost time of their own, and waits for them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "reports/findings/findings.hpp"
#include "reports/findings/rank_moves.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/losses/costly_calls.hpp"
#include "reports/losses/placement.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kMoreThanOthers = 1.5;  // bytes of a rank ÷ mean of the others
constexpr double kMostly = 0.6;      // of a call on the path is of one rank: a partner of its transfers has the rest
constexpr double kTakeTurns = 1.3;   // on the path ÷ of a rank, of all large messages together
constexpr double kWaitInTurn = 0.2;  // waiting in them ÷ the rest of their time
constexpr double kForEachUse = 0.3;  // commits of types ÷ calls that use some
constexpr double kAtOnce = 0.9;      // of the time between start and end is in the wait

// An iteration has hardly more than a message to each neighbour and one back: there is nothing to pack.
bool are_needed(const CostlyCalls& c) {
  constexpr double kFewest = 2.5, kShortest = 10e-6;  // messages; s: shorter loops are over elements
  const SnapshotSeries* const main = main_series(c.app.snapshots);
  if (main == nullptr) return false;
  std::uint64_t most = 0;
  for (const Edge& edge : c.app.edges) most = std::max(most, edge.source == edge.target ? 0 : edge.messages);
  const auto rounds = static_cast<double>(rounds_in(*main));
  return static_cast<double>(most) <= kFewest * rounds && c.view.run > kShortest * rounds;
}

// Small messages: of a pipeline if its function works between them.
void tiny(const CostlyCalls& c, const PathCall& call) {
  double work = 0;
  for (const PathWork& each : c.view.work) {
    if (!call.part->symbol.empty() && each.part->symbol == call.part->symbol) work += each.seconds;
  }
  const bool pipeline = work > 0.5 * call.seconds;
  c.add(pipeline ? "chain.grain" : "ovh.tiny", call,
        pipeline ? fmt::format("Work goes from rank to rank in small blocks: {}", c.calls_in_words(call))
                 : capitalised(c.calls_in_words(call)),
        {}, !pipeline && are_needed(c));
}

// Operations of `start` that a call can end.
double at_once(const PathCall& call, const CallSite& start) {
  return std::max(1.0, static_cast<double>(start.operations) / static_cast<double>(call.site->calls));
}

// How well the waits for the operations of `start` fit this call: 1 if all of its time is in them, as many at once as
// its calls could end.
double like_waits_of(const PathCall& call, const CallSite& start) {
  if (call.site == nullptr || call.site->calls == 0) return 0;
  const double ratio = start.waited_seconds / (at_once(call, start) * call.site->seconds);
  return std::min(ratio, 1 / ratio);
}

// Between start and wait the ranks do not work: they describe data types to MPI.
bool makes_types_meanwhile(const CostlyCalls& c, const PathCall& call, const CallSite& start, double between) {
  double making = 0;
  for (const CallSite& site : c.app.call_sites) making += site.function.starts_with("MPI_Type_") ? site.seconds : 0;
  return making > 0.5 * between / at_once(call, start);
}

// Non-blocking transfers that end in this wait. Returns whether it explains the call.
bool transfer_in_wait(const CostlyCalls& c, const PathCall& call) {
  double flight = 0, waited = 0, operations = 0;
  const CallSite *start = nullptr, *in_pieces = nullptr;
  for (const CallSite& site : c.app.call_sites) {
    if (site.operations == 0 || site.ranks == 0) continue;
    // Starts whose waits take as long as this call.
    if (site.waited_seconds < 0.5 * call.wait_free || site.bytes == 0) continue;
    if (site.run_bytes != 0 && bytes_of_call(site) > kSmall &&
        (in_pieces == nullptr || like_waits_of(call, site) > like_waits_of(call, *in_pieces)))
      in_pieces = &site;
    if (start != nullptr && like_waits_of(call, site) <= like_waits_of(call, *start)) continue;
    start = &site;
    flight = site.flight_seconds;
    waited = site.waited_seconds;
    operations = static_cast<double>(site.operations);
  }
  if (start == nullptr || !(flight > 0) || operations == 0) return false;
  const double bytes = bytes_of_call(*start);
  if (in_pieces != nullptr && like_waits_of(call, *in_pieces) > 0.5 * like_waits_of(call, *start)) {
    name_pieces(c, call, *in_pieces);
    return true;
  }
  if (bytes <= kSmall) {
    const double transfers = static_cast<double>(start->calls) / start->ranks;
    if (std::max(transfers, call.calls_per_rank) < kManyCalls) return true;  // cost nothing: ranks did not run
    c.add("ovh.tiny", call,
          fmt::format("{} complete {} transfers of {}, which {} starts", capitalised(c.calls_in_words(call)),
                      human_count(transfers), human_bytes(bytes), in_place(*start)),
          {}, are_needed(c));
    return true;
  }
  const std::string started = in_place(*start);
  // The call that starts it is no work in between.
  if (waited + operations * start->mean_seconds >= kAtOnce * flight) {
    c.add("prog.false_overlap", call,
          fmt::format("Transfers that {} starts are waited for at once, in {}: nothing is done while they run", started,
                      name_of_call(c.app, call)));
  } else if (makes_types_meanwhile(c, call, *start, flight - waited)) {
    return false;
  } else {
    c.add("prog.none", call,
          fmt::format("Transfers that {} starts move only in {}: {} of the time from start to end is in the wait, "
                      "though ranks work for {} in between",
                      started, name_of_call(c.app, call), human_share(waited / flight),
                      human_seconds((flight - waited) / operations)));
  }
  return true;
}

}  // namespace

CostlyMessages::CostlyMessages(const CostlyCalls& calls) : c_(calls), bytes_(calls.app.ranks) {
  std::vector<double> received(c_.app.ranks);
  for (const Edge& edge : c_.app.edges) {
    if (edge.source == edge.target) continue;
    bytes_[edge.source] += static_cast<double>(edge.bytes);
    received[edge.target] += static_cast<double>(edge.bytes);
  }
  std::ranges::transform(bytes_, received, bytes_.begin(), std::ranges::max);
  large_ones_take_turns_ = take_turns();
}

void CostlyMessages::name(const PathCall& call) {
  const CostlyCalls& c = c_;
  const bool is_transfer = c.is_message(call);
  const std::string& function = call.part->function;
  if (is_transfer && call.bytes_per_call <= kSmall && call.calls_per_rank >= kManyCalls) return tiny(c, call);
  if (call.site != nullptr && call.site->run_bytes != 0) return name_pieces(c, call, *call.site);
  if (of_one_rank(call)) return;
  if (function.starts_with("MPI_Wait") && transfer_in_wait(c, call)) return;
  if (const double saved = bytes_saved_by_placement(c.app); saved > 0.3)
    return c.add("place.ranks", call,
                 fmt::format("Ranks that exchange most are on different hosts: {}; ordered by their messages, {} fewer "
                             "bytes would cross between hosts",
                             c.calls_in_words(call), human_share(saved)));
  if (is_transfer && (c.in_turn(call) || large_ones_take_turns_)) return ring(call);
  if (is_transfer && call.bytes_per_call <= kSmall) return name_calls(c, call);
  c.add("ovh.volume", call,
        fmt::format("{} move their bytes for {} on the critical path", capitalised(c.calls_in_words(call)),
                    human_seconds(call.seconds)));
}

// The path is in large messages for longer than a rank, though no rank has more of them: they go one after the other.
bool CostlyMessages::take_turns() const {
  double on_path = 0, of_ranks = 0, waiting = 0;
  for (const PathCall& call : c_.view.calls) {
    if (!c_.is_message(call) || call.bytes_per_call <= kSmall) continue;
    on_path += call.share * call.part->seconds;
    of_ranks += call.wait_free;
    waiting += call.waiting;
  }
  return c_.app.ranks >= 3 && on_path > kTakeTurns * of_ranks / c_.app.ranks && waiting > kWaitInTurn * of_ranks &&
         !has_more(static_cast<std::uint32_t>(std::ranges::max_element(bytes_) - bytes_.begin()));
}

double CostlyMessages::mean_of_others(std::uint32_t rank) const {
  return (std::accumulate(bytes_.begin(), bytes_.end(), 0.0) - bytes_[rank]) / (c_.app.ranks - 1);
}

bool CostlyMessages::has_more(std::uint32_t rank) const {
  return bytes_[rank] > kMoreThanOthers * mean_of_others(rank);
}

void CostlyMessages::ring(const PathCall& call) {
  if (call.site != nullptr) own_transfers_ = std::max(own_transfers_, call.wait_free / std::max(call.site->ranks, 1u));
  c_.add("chain.ring", call,
         fmt::format("Ranks transfer their messages one after the other: {}", c_.calls_in_words(call)));
}

void CostlyMessages::keep_own_transfers() {
  double in_turn = 0;
  for (const Loss& loss : c_.out) in_turn += loss.code == "chain.ring" ? loss.ceiling : 0;
  for (Loss& loss : c_.out) {
    if (loss.code == "chain.ring") loss.ceiling *= std::max(0.0, 1 - own_transfers_ / in_turn);
  }
}

// Calls of one rank that the others wait for. Returns whether they are.
bool CostlyMessages::of_one_rank(const PathCall& call) const {
  if (c_.app.ranks < 3 || call.part->rank_seconds < kMostly * call.part->seconds) return false;
  const std::uint32_t rank = call.part->rank;
  if (!has_more(rank)) return false;
  std::set<std::uint32_t> to, from;
  double in = 0, out = 0;
  std::uint64_t most_to = 0, least_to = ~std::uint64_t{0};
  for (const Edge& edge : c_.app.edges) {
    if (edge.source == rank && edge.target != rank) {
      to.insert(edge.target);
      out += static_cast<double>(edge.bytes);
      most_to = std::max(most_to, edge.bytes);
      least_to = std::min(least_to, edge.bytes);
    } else if (edge.target == rank && edge.source != rank) {
      from.insert(edge.source);
      in += static_cast<double>(edge.bytes);
    }
  }
  const bool alone = call.site != nullptr && call.site->ranks == 1;
  const std::string who = capitalised(ranks_in_words(c_.app, {rank})), words = name_of_call(c_.app, call);
  if (alone && to.size() == c_.app.ranks - 1 && out > 0.9 * (in + out) && most_to < 2 * least_to) {
    c_.add("ovh.hand", call,
           fmt::format("{} sends the same amount to each other rank, one after the other, in {}{}", who, words,
                       where_others_wait(c_.app, true)),
           {rank});
  } else if (from.size() == c_.app.ranks - 1 && in > 0.9 * (in + out)) {
    c_.add("hub.root", call,
           fmt::format("{} takes messages from all other ranks, one after the other, in {}: {}{}", who, words,
                       human_bytes(in), where_others_wait(c_.app, true)),
           {rank});
  } else if (alone && is_star(rank, to.size() + from.size()) && most_to < 2 * least_to && in < 2 * out &&
             out < 2 * in) {
    c_.add("ovh.hand", call,
           fmt::format("{} takes data from each other rank and sends about as much back, one after the other, in {}{}",
                       who, words, where_others_wait(c_.app, true)),
           {rank});
    c_.out.back().advice =
        "Use the collective operation of MPI (MPI_Allreduce, or MPI_Reduce and MPI_Bcast): all ranks take part in "
        "it.";
  } else {
    c_.add("late.comm", call,
           fmt::format("{} sends or receives {}, another rank {} on average; it spends its time in {}{}", who,
                       human_bytes(bytes_[rank]), human_bytes(mean_of_others(rank)), words,
                       where_others_wait(c_.app, true)),
           {rank});
  }
  return true;
}

// Most bytes are between this rank and the others, in both directions.
bool CostlyMessages::is_star(std::uint32_t rank, std::size_t partners) const {
  constexpr double kOfOthers = 0.3;  // ÷ bytes of the rank
  double own = 0, others = 0;
  for (const Edge& edge : c_.app.edges) {
    if (edge.source == edge.target) continue;
    (edge.source == rank || edge.target == rank ? own : others) += static_cast<double>(edge.bytes);
  }
  return partners == 2 * (std::size_t{c_.app.ranks} - 1) && others < kOfOthers * own;
}

void name_pieces(const CostlyCalls& c, const PathCall& call, const CallSite& user) {
  double commits = 0;
  for (const CallSite& site : c.app.call_sites)
    commits += site.function == "MPI_Type_commit" ? static_cast<double>(site.calls) : 0;
  if (commits > kForEachUse * static_cast<double>(user.calls)) {
    c.add("ovh.create", call,
          fmt::format("A data type of pieces of {} is made for each transfer, and prepared by MPI again: {} of a rank "
                      "to MPI_Type_commit, used in {}",
                      human_bytes(static_cast<double>(user.run_bytes)), human_counted(commits / c.app.ranks, "call"),
                      in_place(user)));
    return;
  }
  const std::string pieces = fmt::format("consists of pieces of {}, which MPI copies one by one",
                                         human_bytes(static_cast<double>(user.run_bytes)));
  c.add("ovh.types", call,
        &user == call.site ? fmt::format("The data type in {} {}", c.calls_in_words(call), pieces)
                           : fmt::format("The data type in {} {}; its transfers end in {}", in_place(user), pieces,
                                         c.calls_in_words(call)));
}

}  // namespace ardoise::reports
