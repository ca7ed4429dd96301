// Threads: idle threads, uneven OpenMP regions, threads that share processors.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/thread_work.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr double kSamplesOfProgram = 50, kSamplesOfThread = 20;  // fewer are not judged

void idle_threads(const Facts& facts, const ThreadWork& work, std::vector<Finding>& out) {
  const SampleProfile& s = facts.app.samples;
  const bool openmp = std::any_of(s.functions.begin(), s.functions.end(), is_openmp);
  // A second thread may exist only to wait for something.
  if (s.unit != "seconds" || (!openmp && s.threads.rank.size() < 3 * std::size_t{facts.app.ranks})) return;
  if (static_cast<double>(s.samples) < kSamplesOfProgram) return;
  std::map<std::uint32_t, double> busiest;  // by rank
  const SampledThreads& t = s.threads;
  for (std::size_t i = 0; i < t.rank.size(); ++i) {
    busiest[t.rank[i]] = std::max(busiest[t.rank[i]], t.self[i]);
  }
  // If the busiest threads do next to nothing outside of parallel regions, the regions are uneven.
  constexpr double kOutside = 0.05;
  double all_busiest = 0;
  for (const auto& [rank, seconds] : busiest) all_busiest += seconds;
  if (work.outside < kOutside * all_busiest) return;
  std::size_t idle = 0;
  double used = 0, possible = 0;
  for (std::size_t i = 0; i < t.rank.size(); ++i) {
    used += t.self[i];
    possible += busiest[t.rank[i]];
    idle += t.self[i] < 0.2 * busiest[t.rank[i]] ? 1 : 0;
  }
  if (possible <= 0 || !(work.of_hottest > 0)) return;
  const double unused = 1 - std::max(0.0, used - work.in_library) / possible,
               threads = static_cast<double>(t.rank.size());
  const bool spin = work.in_library > 0.3 * used;
  if (unused < 0.3 || (static_cast<double>(idle) < 0.3 * threads && !spin)) return;
  const std::string what =
      spin
          ? fmt::format("{} of the CPU time is waiting for work in the OpenMP library",
                        human_share(work.in_library / used))
          : fmt::format(
                "{} of the {} threads of all ranks {} less than a fifth of the CPU time of the busiest one of the same "
                "rank",
                idle, t.rank.size(), idle == 1 ? "uses" : "use");
  out.push_back({"idle_threads",
                 Severity::high,
                 unused,
                 fmt::format("Threads have no work: {}. Outside parallel regions, most time ({}) is spent in {} "
                             "(sampled).",
                             what, human_seconds(work.of_hottest), name_and_place(s, work.hottest_outside)),
                 "Make that part parallel over threads too, or run more ranks with fewer threads each.",
                 {{"threads", threads}, {"idle_threads", static_cast<double>(idle)}, {"unused_share", unused}}});
}

// The region with most threads' time lost to imbalance.
void uneven_region(const Facts& facts, const ThreadWork& work, std::vector<Finding>& out) {
  const SampleProfile& s = facts.app.samples;
  if (s.unit != "seconds" || !(s.self > 0)) return;
  const RegionWork* worst = nullptr;
  for (const RegionWork& region : work.regions) {
    if (worst == nullptr || region.possible - region.total > worst->possible - worst->total) worst = &region;
  }
  if (worst == nullptr || worst->threads < 2) return;
  const double threads = worst->possible / worst->busiest;  // of a rank, on average
  const double lost = worst->busiest - worst->total / threads, share = facts.share(lost);
  const double samples = worst->total / s.self * static_cast<double>(s.samples);
  if (worst->balance() > 0.75 || share < 0.05 || samples < kSamplesOfThread * threads) return;
  out.push_back({"uneven_region",
                 share > 0.2 ? Severity::high : Severity::medium,
                 share,
                 fmt::format("Work of {} is unevenly spread over threads: the busiest of {} computes for {}, the mean "
                             "is {}, {} (sampled). The others wait at the end of the region for {} of the time.",
                             name_and_place(s, worst->function), worst->threads, human_seconds(worst->busiest),
                             human_seconds(worst->total / threads),
                             facts.app.ranks > 1 ? "summed over ranks" : "of one rank", human_share(share)),
                 "Let idle threads take work (schedule(dynamic) or schedule(guided)), or split it into equal parts "
                 "(collapse).",
                 {{"balance", worst->balance()}, {"share", share}, {"threads", threads}}});
}

// More threads than processors in the affinity mask of the rank, on a host with more processors.
void bound_too_tightly(const Facts& facts, const ThreadWork& work, std::vector<Finding>& out) {
  const std::optional<TightBinding> found = tight_binding(facts.app, work);
  if (!found) return;
  const auto [threads, processors, narrow, of_host] = *found;
  out.push_back(
      {"threads_share_processors",
       Severity::high,
       1 - static_cast<double>(processors) / threads,
       fmt::format(
           "{} threads of a rank share {}: {} of {} may not use the other processors of the host, which has {}.",
           threads, processors == 1 ? "1 processor" : fmt::format("{} processors", processors),
           narrow == 1 ? "1 rank" : fmt::format("{} ranks", narrow), facts.app.ranks, of_host),
       fmt::format(
           "Give each rank a processor for each of its threads: with Open MPI, mpirun --map-by slot:PE={0}; with "
           "MPICH, mpirun -bind-to core:{0}; or set OMP_NUM_THREADS={1}.",
           threads, processors),
       {{"threads", threads}, {"processors", processors}, {"ranks", narrow}}});
}

}  // namespace

void find_threads(const Facts& facts, std::vector<Finding>& out) {
  const ThreadWork work = thread_work(facts.app);
  idle_threads(facts, work, out);
  uneven_region(facts, work, out);
  bound_too_tightly(facts, work, out);
}

}  // namespace ardoise::reports
