#include "reports/findings/thread_work.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"

namespace ardoise::reports {

namespace {

constexpr double kWorking = 0.05;

void add_regions(const SampleProfile& s, ThreadWork& work) {
  const std::size_t threads = s.threads.rank.size();
  std::vector<bool> in_team(threads);
  for (std::size_t cell = 0; cell < s.regions.total.size(); ++cell) {
    if (s.regions.total[cell] > 0) in_team[cell % threads] = true;
  }
  for (std::size_t i = 0; i < s.regions.functions.size(); ++i) {
    RegionWork region{.function = s.regions.functions[i]};
    for (std::size_t t = 0; t < threads;) {
      const std::uint32_t rank = s.threads.rank[t];
      std::uint32_t team = 0;
      double busiest = 0;
      for (; t < threads && s.threads.rank[t] == rank; ++t) {
        const double in_thread = s.regions.total[i * threads + t];
        region.total += in_thread;
        busiest = std::max(busiest, in_thread);
        team += in_team[t] ? 1 : 0;
      }
      region.threads = std::max(region.threads, team);
      region.busiest += busiest;
      region.possible += busiest * team;
    }
    work.regions.push_back(region);
  }
  std::stable_sort(work.regions.begin(), work.regions.end(),
                   [](const RegionWork& a, const RegionWork& b) { return a.total > b.total; });
}

// Functions of the C library that start a thread, and those in which it begins and ends.
bool is_start_of_thread(const SampledFunction& f) {
  const std::string_view symbol = without_underscores(f.symbol);
  return f.kind == "code" &&
         (symbol.starts_with("pthread_create") || symbol == "clone" || symbol == "clone3" || symbol == "start_thread");
}

void add_parts(const SampleProfile& s, ThreadWork& work) {
  std::vector<double> outside(s.functions.size()), started(s.functions.size());
  const std::vector<bool> other = in_other_threads(s);
  std::vector<bool> inside(s.tree.parent.size());  // beneath a region or the library
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const SampledFunction& f = s.functions[s.tree.function[i]];
    inside[i] = is_openmp(f) || (s.tree.parent[i] != kNoParent && inside[s.tree.parent[i]]);
    if (is_openmp(f) && !is_region(f)) {
      work.in_library += s.tree.self[i];
    } else if (is_code(f) && inside[i]) {
      work.in_regions += s.tree.self[i];
    } else if (is_start_of_thread(f)) {
      work.of_start += s.tree.self[i];
      if (!other[i]) started[function_of_program(s, static_cast<std::uint32_t>(i))] += s.tree.self[i];
    } else if (is_code(f) && !other[i]) {
      work.outside += s.tree.self[i];
      if (!f.symbol.empty() && f.symbol[0] != '(') outside[s.tree.function[i]] += s.tree.self[i];
    }
  }
  const auto hottest = std::max_element(outside.begin(), outside.end());
  if (hottest == outside.end()) return;
  const auto starter = std::max_element(started.begin(), started.end());
  work.started_in = static_cast<std::uint32_t>(starter - started.begin());
  if (!(*starter > 0)) work.of_start = 0;
  work.hottest_outside = static_cast<std::uint32_t>(hottest - outside.begin());
  work.of_hottest = *hottest;
}

void add_working(const SampledThreads& t, ThreadWork& work) {
  const auto ranks = threads_of_ranks(t);
  if (ranks.empty()) return;
  const auto [least, most] = std::minmax_element(
      ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return a.second.working < b.second.working; });
  work.least_working = least->second.working;
  work.most_working = most->second.working;
}

}  // namespace

std::vector<bool> in_other_threads(const SampleProfile& s) {
  std::vector<bool> other(s.tree.parent.size());
  for (std::size_t i = 0; i < other.size(); ++i) {
    const std::uint32_t parent = s.tree.parent[i];
    const std::string& symbol = s.functions[s.tree.function[i]].symbol;
    other[i] = parent == kNoParent ? symbol.starts_with("clone") || symbol == "start_thread" : other[parent];
  }
  return other;
}

bool is_region(const SampledFunction& f) { return f.symbol.find(" [OpenMP region") != std::string::npos; }

bool is_openmp(const SampledFunction& f) {
  const std::string module = base_name(f.module);
  return is_region(f) || module.starts_with("libgomp") || module.starts_with("libomp") || module.starts_with("libiomp");
}

std::map<std::uint32_t, RankThreads> threads_of_ranks(const SampledThreads& t) {
  std::map<std::uint32_t, RankThreads> ranks;
  for (std::size_t i = 0; i < t.rank.size(); ++i) {
    RankThreads& rank = ranks[t.rank[i]];
    ++rank.all;
    rank.of_all += t.self[i];
    rank.busiest = std::max(rank.busiest, t.self[i]);
  }
  for (std::size_t i = 0; i < t.rank.size(); ++i) {
    RankThreads& rank = ranks[t.rank[i]];
    if (!(t.self[i] > 0 && t.self[i] >= kWorking * rank.busiest)) {
      rank.first_only_waits = rank.first_only_waits || t.thread[i] == 0;
      continue;
    }
    ++rank.working;
    rank.of_working += t.self[i];
  }
  return ranks;
}

bool is_lock(const SampledFunction& f) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"pthread_mutex_", "pthread_rwlock_", "pthread_spin_lock", "pthread_cond_wait", "lll_lock", "GOMP_critical_",
       "GOMP_atomic_", "gomp_mutex_lock", "omp_set_", "omp_unset_", "kmpc_critical", "kmpc_end_critical",
       "kmpc_set_lock", "kmpc_unset_lock"});
  const std::string_view symbol = without_underscores(f.symbol);
  return f.kind == "code" &&
         std::ranges::any_of(kNames, [&](std::string_view name) { return symbol.starts_with(name); });
}

LockWork lock_work(const Application& a) {
  constexpr double kMatters = 0.05;  // of the CPU time
  LockWork work;
  const auto ranks = threads_of_ranks(a.samples.threads);
  if (std::ranges::none_of(ranks, [](const auto& each) { return each.second.working > 1; })) return work;
  double in_kernel = 0;
  for (const SampledFunction& f : a.samples.functions) {
    work.in_functions += is_lock(f) ? f.self : 0;
    in_kernel += f.symbol == "(kernel)" ? f.self : 0;
  }
  work.matters = work.in_functions > kMatters * a.samples.self;
  if (work.matters) work.in_kernel = in_kernel;
  return work;
}

ThreadWork thread_work(const Application& a) {
  ThreadWork work;
  add_regions(a.samples, work);
  add_parts(a.samples, work);
  // The kernel's part before a thread's first sample can be and after its last one.
  const std::vector<double>& cpu = a.per_rank.process_cpu_seconds;
  const double unsampled = std::accumulate(cpu.begin(), cpu.end(), 0.0) - a.samples.self;
  work.of_start += std::clamp(unsampled, 0.0, work.of_start);
  add_working(a.samples.threads, work);
  return work;
}

std::optional<TightBinding> tight_binding(const Application& a, const ThreadWork& work) {
  const RankSummary& r = a.per_rank;
  TightBinding found;
  found.threads = std::max(work.least_working, work.regions.empty() ? 0 : work.regions[0].threads);
  bool own = a.ranks == 1;                       // not all ranks of a host have the same processors
  std::map<std::uint32_t, std::uint32_t> given;  // processors by host
  for (std::size_t i = 0; i < r.processors.size(); ++i) given[i < r.host.size() ? r.host[i] : 0] += r.processors[i];
  for (std::size_t i = 0; i < r.processors.size(); ++i) {
    if (given[i < r.host.size() ? r.host[i] : 0] >= r.host_processors[i]) continue;  // none is left
    own = own || r.first_processor[i] != r.first_processor[0] || r.processors[i] != r.processors[0];
    if (r.processors[i] == 0 || r.processors[i] >= r.host_processors[i] || r.processors[i] >= found.threads) continue;
    ++found.ranks;
    found.processors = r.processors[i];
    found.of_host = r.host_processors[i];
  }
  if (found.ranks == 0 || !own || 2 * found.ranks < a.ranks) return {};
  return found;
}

}  // namespace ardoise::reports
