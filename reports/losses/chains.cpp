// Ranks depend on each other: no rank has more work than the others, and the path is longer than that of a rank.
#include <fmt/format.h>

#include <algorithm>

#include "reports/findings/findings.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/losses/uneven_work.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kBothWork = 1.2;       // ranks that work at a time: more than one, of two
constexpr double kWaitsAtOnce = 0.9;    // of the time between start and end is in the wait
constexpr double kOneAtATime = 2;       // blocks: only one rank works
constexpr double kNoChain = 20;         // blocks by the path ÷ those by calls
constexpr double kLittleMore = 1.5;     // work on the path ÷ mean
constexpr double kPermission = 64;      // bytes: a message without data
constexpr double kCanBeDivided = 1024;  // bytes: data of several steps of work

class Dependence {
 public:
  explicit Dependence(const UnevenWork& work) : w_(work) {}

  // No rank has more work than the others, and the path is longer than the work of a rank.
  void depends(double ceiling, bool beside_late_rank) {
    const auto of_a_sender = [](const WaitSite& site) {
      return site.pattern == "late_receiver" ? site.waiting_seconds / std::max(site.waiters, 1u) : 0;
    };
    const auto most = std::ranges::max_element(w_.app.waiting.call_sites, {}, of_a_sender);
    if (most != w_.app.waiting.call_sites.end() && of_a_sender(*most) > kExplainsLoss * ceiling) {
      const bool one = most->waiters == 1 && most->awaited != kNoRank;
      w_.add("order.late_receiver", ceiling, {},
             fmt::format("{} {} {} in {} until the receive is posted; {} in {} before", capitalised(w_.waiters(*most)),
                         most->waiters == 1 ? "waits" : "wait", human_seconds(of_a_sender(*most)), name_of_site(*most),
                         one ? ranks_in_words(w_.app, {most->awaited}) + " is" : "the receiving ranks are",
                         w_.places_of_excess(one ? std::optional(most->awaited) : std::nullopt)));
      if (most->function.starts_with("MPI_Wait") || most->function.starts_with("MPI_Test"))
        w_.out.back().advice =
            "Send from several buffers in turn, and wait for a send when its buffer is needed again; or post receives "
            "into several buffers earlier (MPI_Irecv).";
      return;
    }
    if (w_.waits.locks > 0.5 * w_.waits.all) {
      w_.add("rma.lock", ceiling, {},
             fmt::format("{} {} {} in {} while another rank has the lock, and works with it, in {}",
                         capitalised(w_.waiters(*w_.waits.lock)), w_.waits.lock->waiters == 1 ? "waits" : "wait",
                         human_seconds(w_.waits.lock->waiting_seconds / std::max(w_.waits.lock->waiters, 1u)),
                         name_of_site(*w_.waits.lock), w_.places_of_excess()));
      w_.out.back().advice =
          "Do the work before the lock is taken, and hold it for the update alone; or replace lock and update by an "
          "atomic operation (MPI_Fetch_and_op), or spread the data over several ranks.";
      return;
    }
    if (w_.waits.message == nullptr || w_.waits.sender < 0.2 * w_.waits.all)
      return name_chance(w_, ceiling, beside_late_rank);
    const WaitSite& site = *w_.waits.message;
    const std::string place = name_of_site(site);
    const std::string working = fmt::format("{:.1f} of {} ranks work at a time, though all have about equal work",
                                            sum(w_.useful) / std::max(w_.view.run, 1e-12), w_.app.ranks);
    const double by_path = blocks_by_path(), by_calls = blocks_between_synchronisations(site);
    // A chain has many ranks' work on the path; delays by chance add little to that of a rank.
    const bool in_rounds = waits_in_even_rounds(ceiling) || waits_evenly(site, ceiling);
    if (in_rounds && name_late_in_phases(w_, ceiling)) return;
    if (!in_rounds && by_path > kNoChain * std::max(by_calls, 1.0) &&
        w_.view.path_work < kLittleMore * w_.view.mean_work)
      return name_chance(w_, ceiling, beside_late_rank);
    const double blocks = blocks_of_chain(by_path, by_calls);
    // Two ranks that wait for each other: which one works changes, and both work in between.
    if (blocks < kOneAtATime && w_.app.ranks == 2 && sum(w_.useful) > kBothWork * w_.view.run) {
      if (waits_at_once(site))
        return w_.add("prog.false_overlap", ceiling, {},
                      fmt::format("The ranks wait for each other in turn, right after they start their transfers, in "
                                  "{}: {:.1f} of 2 ranks work at a time, in {}, though both have about equal work",
                                  place, sum(w_.useful) / w_.view.run, w_.places_of_excess()));
      if (!in_rounds) return name_chance(w_, ceiling, beside_late_rank);
    }
    const CallSite* const calls = w_.calls_at(site);
    const double bytes = calls == nullptr ? 0 : bytes_of_call(*calls);
    const bool in_turn = blocks < kOneAtATime && bytes <= kPermission && is_closed_cycle();
    if (in_turn && name_phases_of_work(w_, ceiling)) return;
    if (in_turn) {
      w_.add("chain.token", ceiling, {},
             fmt::format("A message goes round from rank to rank, and only its owner works, in {}: {}. The others wait "
                         "in {}",
                         w_.places_of_excess(), working, place));
    } else if (blocks >= kOneAtATime && w_.app.ranks == 2 && site.waiters == 2 && !in_rounds) {
      name_chance(w_, ceiling, beside_late_rank);  // the ranks wait for each other: no pipeline
    } else if (blocks >= kOneAtATime && !in_rounds) {
      w_.add(
          "chain.fill", ceiling, {},
          fmt::format("Work goes from rank to rank in {:.0f} blocks, in {}: {}. Ranks wait in {} for the first block, "
                      "and at the end for the last rank",
                      blocks, w_.places_of_excess(), working, place));
    } else {
      w_.add("chain.serial", ceiling, {},
             fmt::format("Ranks work one after the other, in {}: {}. They wait for their predecessor in {}{}",
                         w_.places_of_excess(), working, place,
                         bytes >= kCanBeDivided ? fmt::format(", for {} each time", human_bytes(bytes)) : ""));
      if (bytes >= kCanBeDivided)
        w_.out.back().advice =
            "Pass on each part of this data as soon as it is done, so that the next rank can begin earlier; or remove "
            "the dependence of each rank on its predecessor.";
    }
  }

 private:
  // Each of two ranks works about as long in each round, and waits for much longer than that differs: not by chance.
  [[nodiscard]] bool waits_in_even_rounds(double ceiling) const {
    constexpr double kEven = 0.12, kLonger = 3;  // standard deviation of rounds ÷ mean; waiting ÷ imbalance
    return w_.app.ranks == 2 && w_.shape && w_.shape->spread < kEven && ceiling > kLonger * w_.shape->imbalance &&
           w_.view.share(ceiling) > kHighLoss;
  }

  // Hardly any wait is longer than their mean: those by chance are of all lengths.
  [[nodiscard]] bool waits_evenly(const WaitSite& site, double ceiling) const {
    constexpr double kMostLonger = 1.6, kFewest = 20;
    const auto count = static_cast<double>(site.occurrences);
    return count >= kFewest && site.longest.seconds < kMostLonger * site.waiting_seconds / count &&
           w_.view.share(ceiling) > kHighLoss;
  }

  // Nothing is done between the start of transfers and this wait.
  [[nodiscard]] bool waits_at_once(const WaitSite& site) const {
    return site.function.starts_with("MPI_Wait") && std::ranges::any_of(w_.app.call_sites, [](const CallSite& start) {
             return start.operations > 0 && start.waited_seconds > kWaitsAtOnce * start.flight_seconds;
           });
  }

  // The parts in which work goes from rank to rank; 1: only one rank works at a time.
  [[nodiscard]] static double blocks_of_chain(double by_path, double by_calls) {
    if (by_path > 0 && by_path < kOneAtATime) return 1;
    // Other collectives than the one at the end of the chain are in between.
    if (by_calls < 0.9) return by_path;
    return by_calls < 2 ? 1 : std::min(by_calls, std::max(2.0, by_path));
  }

  // A path through p ranks that work in b blocks has b + p - 1 of them; of a function that works elsewhere, too, more.
  // 0: unknown.
  [[nodiscard]] double blocks_by_path() const {
    if (w_.view.work.empty()) return 0;
    const PathWork& most = w_.view.work[0];
    return most.mean > 0 && most.seconds > most.mean ? (w_.app.ranks - 1) / (most.seconds / most.mean - 1) : 0;
  }

  [[nodiscard]] double calls_of_rank(const WaitSite& site) const {
    const CallSite* const calls = w_.calls_at(site);
    return calls == nullptr ? 0 : static_cast<double>(calls->calls) / std::max(calls->ranks, 1u);
  }
  // Calls of a rank at the site for each call of the collective in which ranks wait most.
  [[nodiscard]] double blocks_between_synchronisations(const WaitSite& site) const {
    const auto most = std::ranges::find_if(w_.app.waiting.call_sites, [this](const WaitSite& each) {
      return (each.pattern == "wait_nxn" || each.pattern == "wait_barrier") && calls_of_rank(each) > 0;
    });
    return calls_of_rank(site) / (most == w_.app.waiting.call_sites.end() ? 1 : calls_of_rank(*most));
  }

  // Every rank waits in this function for its predecessor, the first one for the last.
  [[nodiscard]] bool is_closed_cycle() const {
    std::vector<double> waited(w_.app.ranks);
    for (const WaitSite& site : w_.app.waiting.call_sites) {
      if (!is_for_sender(site) || site.symbol != w_.waits.message->symbol) continue;
      for (std::uint32_t rank = site.first_waiter; site.waiters > 0 && rank <= site.last_waiter; ++rank)
        waited[rank] = std::max(waited[rank], site.waiting_seconds / site.waiters);
    }
    return !waited.empty() &&
           *std::ranges::min_element(waited) > 0.5 * sum(waited) / static_cast<double>(waited.size());
  }

  const UnevenWork& w_;
};

}  // namespace

void name_dependence(const UnevenWork& work, double ceiling, bool beside_late_rank) {
  Dependence(work).depends(ceiling, beside_late_rank);
}

}  // namespace ardoise::reports
