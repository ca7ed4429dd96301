#include "reports/losses/host_threads.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

namespace ardoise::reports {
namespace {

constexpr double kMostlyAwake = 0.2;   // of its time asleep
constexpr double kMostlyAsleep = 0.5;  // likewise: its CPU time tells what it needs
constexpr double kInaccuracy = 0.2;    // processors
constexpr double kOtherThreads = 1.2;  // CPU time of a rank ÷ that of its first thread: others work as well

// Threads of a rank that were sampled; without samples there is no limit.
double sampled_threads(const Application& a, std::size_t rank) {
  const auto threads = std::ranges::count(a.samples.threads.rank, rank);
  return threads > 0 ? static_cast<double>(threads) : a.samples.threads.rank.empty() ? 1e9 : 1;
}

// The part of a's run during which b runs.
double overlap(const Application& a, const Application& b) {
  const double begin = std::max(a.start_seconds + a.init_seconds, b.start_seconds + b.init_seconds);
  const double end =
      std::min(a.start_seconds + a.init_seconds + a.wall_seconds, b.start_seconds + b.init_seconds + b.wall_seconds);
  return a.wall_seconds > 0 ? std::clamp((end - begin) / a.wall_seconds, 0.0, 1.0) : 0;
}

}  // namespace

std::vector<double> threads_by_rank(const RunView& view) {
  const Application& a = view.app;
  std::vector<double> needed(view.times.size());
  for (std::size_t rank = 0; rank < view.times.size(); ++rank) {
    // A rank with other threads has as many as it used processors, or as they used those of the first one that would
    // always run; asleep it needs none.
    const double wall = std::max(view.times[rank].wall, 1e-12);
    const double process = rank < a.per_rank.process_cpu_seconds.size() ? a.per_rank.process_cpu_seconds[rank] : 0;
    const double first = rank < a.per_rank.cpu_seconds.size() ? a.per_rank.cpu_seconds[rank] : 0;
    const double asleep = (view.times[rank].blocked + (view.on_device.empty() ? 0 : view.on_device[rank])) / wall;
    const bool several = asleep < kMostlyAwake && process > kOtherThreads * first && first > 0;
    const double threads = several ? std::min(process / first, sampled_threads(a, rank)) : 1;
    needed[rank] = std::max(asleep < kMostlyAsleep ? (1 - asleep) * threads : 0, process / wall);
  }
  return needed;
}

std::vector<double> threads_by_host(const RunView& view) {
  const Application& a = view.app;
  std::vector<double> needed(a.hosts.size());
  if (a.per_rank.host.size() != view.times.size()) return {};
  const std::vector<double> of_ranks = threads_by_rank(view);
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    if (a.per_rank.host[rank] >= needed.size()) return {};
    needed[a.per_rank.host[rank]] += of_ranks[rank];
  }
  return needed;
}

std::optional<SharedProcessors> most_shared_processors(const RunView& view) {
  const RankSummary& r = view.app.per_rank;
  const std::size_t count = view.times.size();
  if (r.host.size() != count || r.processors.size() != count || r.first_processor.size() != count ||
      r.host_processors.size() != count)
    return {};
  const std::vector<double> needed = threads_by_rank(view);
  std::map<std::array<std::uint32_t, 3>, SharedProcessors> sets;  // by host, lowest processor, number
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    if (r.processors[rank] == 0 || r.processors[rank] >= r.host_processors[rank]) continue;
    SharedProcessors& set = sets[{r.host[rank], r.first_processor[rank], r.processors[rank]}];
    set.ranks.push_back(rank);
    set.threads += needed[rank];
    set.first = r.first_processor[rank];
    set.processors = r.processors[rank];
    set.of_host = r.host_processors[rank];
  }
  std::optional<SharedProcessors> most;
  for (auto& [key, set] : sets) {
    if (set.ranks.size() < 2 || set.threads <= set.processors + kInaccuracy) continue;
    if (!most || set.threads / set.processors > most->threads / most->processors) most = std::move(set);
  }
  return most;
}

double runnable_per_processor(const RunView& view) {
  const Application& a = view.app;
  std::vector<double> needed = threads_by_host(view), processors(needed.size());
  for (std::size_t rank = 0; rank < a.per_rank.host.size() && rank < a.per_rank.host_processors.size(); ++rank) {
    if (a.per_rank.host[rank] >= processors.size() || a.per_rank.host_processors[rank] == 0) return 0;
    processors[a.per_rank.host[rank]] = a.per_rank.host_processors[rank];
  }
  double most = 0;
  for (std::size_t host = 0; host < needed.size(); ++host) {
    if (processors[host] <= 0) continue;
    if (host < a.other_threads.size()) needed[host] += a.other_threads[host];
    const bool enough = needed[host] <= processors[host] + kInaccuracy;
    most = std::max(most, (enough ? std::min(needed[host], processors[host]) : needed[host]) / processors[host]);
  }
  return most;
}

bool fills_a_host(const Application& a) {
  constexpr double kFull = 0.9;  // of the processors' time
  const RankSummary& r = a.per_rank;
  std::vector<double> used(a.hosts.size()), possible(a.hosts.size());
  std::vector<std::uint32_t> ranks(a.hosts.size()), processors(a.hosts.size());
  for (std::size_t rank = 0; rank < r.process_cpu_seconds.size(); ++rank) {
    if (rank >= r.host.size() || rank >= r.host_processors.size() || r.host[rank] >= used.size()) return false;
    ++ranks[r.host[rank]];
    processors[r.host[rank]] = r.host_processors[rank];
    used[r.host[rank]] += r.process_cpu_seconds[rank];
    possible[r.host[rank]] = std::max(possible[r.host[rank]], r.wall_seconds[rank] * r.host_processors[rank]);
  }
  for (std::size_t host = 0; host < used.size(); ++host) {
    if (ranks[host] > processors[host] && possible[host] > 0 && used[host] > kFull * possible[host]) return true;
  }
  return false;
}

bool use_their_processors_up(const Application& a, const std::vector<std::uint32_t>& ranks) {
  constexpr double kFull = 0.85, kOthers = 1.5;  // of the processors' time; CPU time ÷ that of first threads
  const RankSummary& r = a.per_rank;
  return !ranks.empty() && std::ranges::all_of(ranks, [&](std::uint32_t rank) {
    return rank < r.processors.size() && rank < r.process_cpu_seconds.size() && rank < r.cpu_seconds.size() &&
           r.processors[rank] > 0 && r.process_cpu_seconds[rank] > kFull * r.wall_seconds[rank] * r.processors[rank] &&
           r.process_cpu_seconds[rank] > kOthers * r.cpu_seconds[rank];
  });
}

void count_other_threads(Run& run) {
  if (run.applications.size() < 2) return;
  std::vector<std::vector<double>> own;
  own.reserve(run.applications.size());
  for (const Application& a : run.applications) own.push_back(threads_by_host(RunView(a)));
  for (Application& a : run.applications) {
    std::map<std::string, double> others;
    for (std::size_t i = 0; i < run.applications.size(); ++i) {
      const Application& b = run.applications[i];
      if (&a == &b) continue;
      for (std::size_t host = 0; host < own[i].size(); ++host) others[b.hosts[host]] += own[i][host] * overlap(a, b);
    }
    a.other_threads.clear();
    for (const std::string& host : a.hosts) a.other_threads.push_back(others[host]);
  }
}

}  // namespace ardoise::reports
