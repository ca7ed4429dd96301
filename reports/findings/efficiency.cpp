#include "reports/findings/efficiency.hpp"

#include <algorithm>

#include "reports/findings/waiting_view.hpp"

namespace ardoise::reports {

namespace {

// By rank: share of the first thread's samples outside MPI and I/O calls; 1: unknown.
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
    // Other threads may do I/O, or call MPI, while the first one works.
    const bool knows_first = i < ranks.first_mpi_seconds.size();
    time.mpi = std::min((knows_first ? ranks.first_mpi_seconds : ranks.mpi_seconds)[i], time.wall);
    const std::vector<double>& io = knows_first ? ranks.first_io_seconds : ranks.io_seconds;
    time.io = io.empty() ? 0 : std::min(io[i], time.wall - time.mpi);
    const double inside = time.mpi + time.io, outside = time.wall - inside;
    const double cpu = i < ranks.cpu_seconds.size() ? std::min(ranks.cpu_seconds[i], time.wall) : 0;
    if (cpu <= 0) {
      time.computing = outside;
      continue;
    }
    time.has_kernel_times = true;
    time.computing = std::clamp(cpu * outside_calls[i], std::max(0.0, cpu - inside), std::min(cpu, outside));
    const double waited = std::min(ranks.waiting_seconds[i], time.wall - cpu), asleep = time.wall - cpu - waited;
    // Without CPU time: waiting for a processor, or asleep.
    const double idle_outside = outside - time.computing, idle_inside = inside - (cpu - time.computing);
    const double least = std::max(0.0, asleep - idle_inside), most = std::min(asleep, idle_outside);
    const double seen_outside = i < ranks.asleep_outside.size() ? ranks.asleep_outside[i] : 0,
                 seen = seen_outside + (i < ranks.asleep_inside.size() ? ranks.asleep_inside[i] : 0);
    // Never seen asleep: waiting for a processor is spread like CPU time.
    const double likely = seen > 0 ? asleep * seen_outside / seen : idle_outside - waited * time.computing / cpu;
    time.blocked = std::clamp(likely, least, std::max(least, most));
    time.waiting = idle_outside - time.blocked;
    time.mpi_without_processor = std::clamp(waited - time.waiting, 0.0, time.mpi);
  }
  return times;
}

namespace {

bool waiting_is_known(const Application& a, const std::vector<RankTime>& times) {
  const UnresolvedWaiting& unresolved = a.waiting.unresolved;
  const auto known = [](bool is_known, const UnresolvedCounts& counts) {
    return is_known || counts == UnresolvedCounts{};
  };
  return a.waiting.per_rank.waiting_seconds.size() == times.size() &&
         known(collectives_are_known(a), unresolved.collective_calls) &&
         known(messages_are_known(a), unresolved.message_ends) &&
         a.waiting.resolved_calls + a.waiting.resolved_messages != 0;
}

// Useful time of some ranks. ideal: on an ideal network a rank spends only useful time and waiting.
struct Usefulness {
  double sum = 0, most = 0, ideal = 0, longest = 0;  // seconds
  std::uint32_t slowest_rank = 0, ranks = 0;

  void add(std::uint32_t rank, const RankTime& time, double waiting) {
    const double useful = time.useful();
    if (ranks++ == 0 || useful > most) slowest_rank = rank;
    sum += useful;
    most = std::max(most, useful);
    ideal = std::max(ideal, useful + waiting);
    longest = std::max(longest, time.wall);
  }
  [[nodiscard]] double mean() const { return sum / ranks; }
  [[nodiscard]] ParallelEfficiency efficiency() const {
    const double within = std::min(ideal, longest);
    if (!(within > 0)) return {};
    const double balance = most > 0 ? mean() / most : 1;
    return {balance, std::min(1.0, most / within), within / longest, balance * std::min(1.0, most / longest)};
  }
};

}  // namespace

Efficiency efficiency_of(const Application& a) {
  const std::vector<RankTime> times = times_of_ranks(a);
  if (times.empty()) return {};
  const std::vector<double>& waiting = a.waiting.per_rank.waiting_seconds;
  RankTime all;
  Usefulness of_all;
  for (std::uint32_t rank = 0; rank < times.size(); ++rank) {
    const RankTime& time = times[rank];
    all.wall += time.wall;
    all.mpi += time.mpi;
    all.io += time.io;
    all.computing += time.computing;
    all.waiting += time.waiting;
    all.blocked += time.blocked;
    of_all.add(rank, time, rank < waiting.size() ? waiting[rank] : 0);
  }
  Efficiency e;
  if (all.wall <= 0) return e;
  of_all.longest = std::max(a.wall_seconds, of_all.longest);
  e.known = true;
  e.has_kernel_times = std::ranges::all_of(times, &RankTime::has_kernel_times);
  e.mpi_share = all.mpi / all.wall;
  e.io_share = all.io / all.wall;
  e.computing_share = all.computing / all.wall;
  e.waiting_share = all.waiting / all.wall;
  e.blocked_share = all.blocked / all.wall;
  e.slowest_rank = of_all.slowest_rank;
  e.max_useful = of_all.most;
  e.mean_useful = of_all.mean();
  e.load_balance = e.max_useful > 0 ? e.mean_useful / e.max_useful : 1;
  e.imbalance = e.mean_useful > 0 ? e.max_useful / e.mean_useful : 1;
  e.communication = std::min(1.0, e.max_useful / of_all.longest);
  e.parallel = e.load_balance * e.communication;
  if (!waiting_is_known(a, times)) return e;
  const ParallelEfficiency parts = of_all.efficiency();
  e.parts_known = parts.transfer > 0;
  e.serialisation = parts.serialisation;
  e.transfer = parts.transfer;
  return e;
}

std::vector<double> waiting_without_processor(const Application& a, const std::vector<RankTime>& times) {
  const std::vector<double>&waiting = a.waiting.per_rank.waiting_seconds, &cpu = a.per_rank.cpu_seconds;
  if (waiting.size() != times.size() || std::ranges::all_of(cpu, [](double seconds) { return seconds <= 0; }))
    return {};
  std::vector<double> result;
  for (std::size_t rank = 0; rank < times.size(); ++rank)
    result.push_back(std::min(waiting[rank], times[rank].mpi_without_processor));
  return result;
}

void fill_efficiency(const Application& a, const std::vector<RankTime>& times, Communicator& communicator) {
  const std::vector<std::uint32_t>& group_of_rank = communicator.group_of_rank;
  if (group_of_rank.empty() || group_of_rank.size() != times.size() || !waiting_is_known(a, times)) return;
  std::vector<Usefulness> groups(*std::ranges::max_element(group_of_rank));
  for (std::uint32_t rank = 0; rank < times.size(); ++rank) {
    const std::uint32_t group = group_of_rank[rank];
    if (group != 0) groups[group - 1].add(rank, times[rank], a.waiting.per_rank.waiting_seconds[rank]);
  }
  double sum = 0, most = 0;
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    if (groups[group].ranks == 0) return;
    sum += groups[group].mean();
    most = std::max(most, groups[group].mean());
    const ParallelEfficiency efficiency = groups[group].efficiency();
    if (communicator.least_efficient != 0 && efficiency.parallel >= communicator.efficiency.parallel) continue;
    communicator.efficiency = efficiency;
    communicator.least_efficient = group + 1;
  }
  communicator.balance_between = most > 0 ? sum / static_cast<double>(groups.size()) / most : 1;
}

}  // namespace ardoise::reports
