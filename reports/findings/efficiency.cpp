// See efficiency.hpp.
#include "reports/findings/efficiency.hpp"

#include <algorithm>

#include "reports/findings/waiting_view.hpp"

namespace ardoise::reports {

namespace {

// Share of a rank's samples, of its first thread, that fell outside of MPI and I/O calls; 1: not known.
std::vector<double> shares_outside_calls(const Application& a) {
  std::vector<double> shares(a.ranks, 1.0);
  const SampledThreads& threads = a.samples.threads;
  if (a.samples.clock != "cpu" || threads.in_calls.size() != threads.rank.size()) return shares;
  for (std::size_t i = 0; i < threads.rank.size(); ++i) {
    if (threads.thread[i] == 0 && threads.self[i] > 0)
      shares[threads.rank[i]] = std::clamp(1 - threads.in_calls[i] / threads.self[i], 0.0, 1.0);
  }
  return shares;
}

}  // namespace

std::vector<RankTime> times_of_ranks(const Application& a) {
  const RankSummary& ranks = a.per_rank;
  if (ranks.wall_seconds.empty() || ranks.mpi_seconds.empty()) return {};
  const std::vector<double> outside_calls = shares_outside_calls(a);
  std::vector<RankTime> times(ranks.wall_seconds.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    RankTime& time = times[i];
    time.wall = ranks.wall_seconds[i];
    // Several threads in calls at a time may sum to more than the wall time.
    time.mpi = std::min(ranks.mpi_seconds[i], time.wall);
    time.io = ranks.io_seconds.empty() ? 0 : std::min(ranks.io_seconds[i], time.wall - time.mpi);
    const double outside = time.wall - time.mpi - time.io;
    const double cpu = i < ranks.cpu_seconds.size() ? ranks.cpu_seconds[i] : 0;
    if (cpu <= 0) {
      time.computing = outside;
      continue;
    }
    const double waited = ranks.waiting_seconds[i], asleep = std::max(0.0, time.wall - cpu - waited);
    time.computing = std::min(outside, cpu * outside_calls[i]);
    // A thread waits for processors as long as it runs.
    time.waiting = std::min(outside - time.computing, waited * time.computing / cpu);
    time.blocked = std::min(outside - time.computing - time.waiting, asleep);
    // What is left can't have been asleep: an error of the estimate.
    const double left = outside - time.computing - time.waiting - time.blocked;
    const double more = std::min(left, std::max(0.0, cpu - time.computing));
    time.computing += more;
    time.waiting += left - more;
  }
  return times;
}

namespace {

// On an ideal network a rank would spend its useful time and its waiting.
void split_communication(const Application& a, const std::vector<double>& useful, double longest, Efficiency& e) {
  const std::vector<double>& waiting = a.waiting.per_rank.waiting_seconds;
  const UnresolvedWaiting& unresolved = a.waiting.unresolved;
  const auto known = [](bool is_known, const UnresolvedCounts& counts) {
    return is_known || counts == UnresolvedCounts{};
  };
  if (waiting.size() != useful.size() || !known(collectives_are_known(a), unresolved.collective_calls) ||
      !known(messages_are_known(a), unresolved.message_ends) ||
      a.waiting.resolved_calls + a.waiting.resolved_messages == 0)
    return;
  double ideal = e.max_useful;
  for (std::size_t rank = 0; rank < useful.size(); ++rank) ideal = std::max(ideal, useful[rank] + waiting[rank]);
  ideal = std::min(ideal, longest);
  if (!(ideal > 0)) return;
  e.parts_known = true;
  e.serialisation = std::min(1.0, e.max_useful / ideal);
  e.transfer = ideal / longest;
}

}  // namespace

Efficiency efficiency_of(const Application& a) {
  const std::vector<RankTime> times = times_of_ranks(a);
  RankTime all;
  std::vector<double> useful;
  for (const RankTime& time : times) {
    all.wall += time.wall;
    all.mpi += time.mpi;
    all.io += time.io;
    all.computing += time.computing;
    all.waiting += time.waiting;
    all.blocked += time.blocked;
    useful.push_back(time.useful());
  }
  Efficiency e;
  if (useful.empty() || all.wall <= 0) return e;
  e.known = true;
  e.mpi_share = all.mpi / all.wall;
  e.io_share = all.io / all.wall;
  e.computing_share = all.computing / all.wall;
  e.waiting_share = all.waiting / all.wall;
  e.blocked_share = all.blocked / all.wall;
  const auto slowest = std::max_element(useful.begin(), useful.end());
  e.slowest_rank = static_cast<std::uint32_t>(slowest - useful.begin());
  e.max_useful = *slowest;
  e.mean_useful = all.useful() / static_cast<double>(useful.size());
  const double longest =
      std::max(a.wall_seconds, *std::max_element(a.per_rank.wall_seconds.begin(), a.per_rank.wall_seconds.end()));
  e.load_balance = e.max_useful > 0 ? e.mean_useful / e.max_useful : 1;
  e.imbalance = e.mean_useful > 0 ? e.max_useful / e.mean_useful : 1;
  e.communication = std::min(1.0, e.max_useful / longest);
  e.parallel = e.load_balance * e.communication;
  split_communication(a, useful, longest, e);
  return e;
}

}  // namespace ardoise::reports
