// Useful work that would be shorter: threads without work; and where the work is.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reports/findings/findings.hpp"
#include "reports/findings/rank_moves.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/thread_work.hpp"
#include "reports/losses/losses.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kBalanced = 0.8;  // mean ÷ busiest thread

// Threads of a rank that take part in the program's work, on average; 0: they are not known.
double working_threads(const Application& a, const ThreadWork& work) {
  const SampledThreads& t = a.samples.threads;
  const bool openmp = std::ranges::any_of(a.samples.functions, is_openmp);
  // A second thread may exist only to wait for something.
  if (!openmp && t.rank.size() < 3 * std::size_t{a.ranks}) return 0;
  if (!work.regions.empty() && work.regions[0].threads > 1) return work.regions[0].threads;
  return static_cast<double>(t.rank.size()) / a.ranks;
}

void serial_parts(const RunView& view, const ThreadWork& work, double threads, std::vector<Loss>& out) {
  const SampleProfile& s = view.app.samples;
  double possible = 0, used = 0;
  for (const auto& [rank, threads_of_rank] : threads_of_ranks(s.threads)) {
    possible += threads_of_rank.busiest * (threads_of_rank.all - (threads_of_rank.first_only_waits ? 1 : 0));
    used += threads_of_rank.of_all;
  }
  const bool idle = possible > 0 && used - work.in_library < 0.7 * possible;
  if (!idle || !(work.of_hottest > 0) || view.devices_work()) return;  // threads wait for a device
  // Outside of regions one thread of a rank works.
  const double serial = work.outside / view.app.ranks;
  out.push_back(
      {.code = "thr.serial",
       .ceiling = serial * (1 - 1 / threads),
       .own_seconds = work.outside * (1 - 1 / threads),
       .text = fmt::format(
           "One of {:.0f} threads of a rank works, the others are idle, for {}, most of it ({}) in {} (sampled)",
           threads, human_seconds(serial), human_seconds(work.of_hottest / view.app.ranks),
           name_and_place(s, work.hottest_outside))});
}

// Threads are started again and again, for parts of the work that are short beside a start and an end of a thread.
void started_threads(const RunView& view, const ThreadWork& work, std::vector<Loss>& out) {
  const SampleProfile& s = view.app.samples;
  double on_path = 0;
  for (const PathWork& each : view.work) on_path += each.part->symbol.starts_with("pthread_create") ? each.seconds : 0;
  // While ranks wait for processors, CPU time of any thread is time of the run.
  const std::vector<double>& cpu = view.app.per_rank.process_cpu_seconds;
  const double share = work.of_start / std::max({s.self, work.of_start, std::accumulate(cpu.begin(), cpu.end(), 0.0)});
  const double crowded = share * (view.path_work + view.path.processor), ceiling = std::max(on_path, crowded);
  if (view.share(ceiling) < kMentionedLoss) return;
  out.push_back(
      {.code = "thr.start",
       .ceiling = ceiling,
       .own_seconds = work.of_start,
       .bucket = crowded > on_path ? Bucket::processor : Bucket::work,
       .text = fmt::format("Threads are started and ended again and again: that takes {} of CPU time, {} of "
                           "all (an estimate); most are started in {}",
                           human_seconds(work.of_start), human_share(share), name_and_place(s, work.started_in))});
}

void uneven_regions(const RunView& view, const ThreadWork& work, std::vector<Loss>& out) {
  const SampleProfile& s = view.app.samples;
  const RegionWork* worst = nullptr;
  double lost = 0;
  for (const RegionWork& region : work.regions) {
    if (region.threads < 2 || !(region.busiest > 0)) continue;
    const double of_region = region.busiest - region.total * region.busiest / region.possible;
    if (of_region <= lost) continue;
    worst = &region;
    lost = of_region;
  }
  if (worst == nullptr) return;
  const double samples = worst->total / s.self * static_cast<double>(s.samples);
  if (samples < kFewestSamples || worst->balance() > kBalanced) return;
  const double ranks = view.app.ranks;
  out.push_back(
      {.code = "thr.uneven",
       .ceiling = lost / ranks,
       .own_seconds = lost,
       .text = fmt::format("The busiest of {} threads works for {} in {}, the mean is {} (sampled); the others wait "
                           "for it at the end of the region",
                           worst->threads, human_seconds(worst->busiest / ranks), name_and_place(s, worst->function),
                           human_seconds(worst->total / (worst->possible / worst->busiest) / ranks))});
}

// The OpenMP library needs longer to start and end regions than the threads work in them. While one thread works
// outside of regions the others may test for the next one.
void fine_regions(const RunView& view, const ThreadWork& work, double threads, std::vector<Loss>& out) {
  constexpr double kMoreThanWork = 5;  // less may be threads that lack processors, for which the others test
  const SampleProfile& s = view.app.samples;
  double locks = 0;
  for (const SampledFunction& f : s.functions) locks += is_openmp(f) && is_lock(f) ? f.self : 0;
  const double library = work.in_library - locks;
  if (work.regions.empty() || library < kMoreThanWork * work.in_regions) return;
  const double cost = std::max(0.0, library - work.outside * (threads - 1));
  out.push_back(
      {.code = "thr.fine",
       .ceiling = cost / threads / view.app.ranks,
       .own_seconds = cost,
       .text = fmt::format("The OpenMP library uses {} of CPU time to start and end parallel regions, the threads "
                           "{} for their work, most of it in {} (sampled)",
                           human_seconds(library), human_seconds(work.in_regions),
                           name_and_place(s, work.regions[0].function))});
}

// More threads than processors in the affinity mask of the rank, on a host with more processors.
void bound_too_tightly(const RunView& view, const ThreadWork& work, std::vector<Loss>& out) {
  const std::optional<TightBinding> found = tight_binding(view.app, work);
  if (!found || view.devices_work()) return;  // threads that sleep need no processor
  const auto [threads, processors, narrow, of_host] = *found;
  out.push_back({.code = "node.bind",
                 .ceiling = view.path_work * (1 - static_cast<double>(processors) / threads),
                 .text = fmt::format("{} threads of a rank share {}: {} of {} may not use the other processors of the "
                                     "host, which has {}",
                                     threads, counted(processors, "processor"), counted(narrow, "rank"), view.app.ranks,
                                     of_host)});
}

// Work before the main loop that all ranks do for as long: perhaps each does all of it.
struct SetUp {
  double seconds = 0;  // of the run; 0: it is short, or ranks differ
  std::string place;
};

SetUp long_set_up(const RunView& view) {
  constexpr double kLong = 0.15, kSampled = 0.7, kAlike = 0.8;
  const SnapshotSeries* const loop = main_series(view.app.snapshots);
  if (view.app.ranks < 2 || loop == nullptr || loop->begin_seconds.empty()) return {};
  const double before = loop->begin_seconds[0];
  const SnapshotFunction* most = nullptr;
  double sampled = 0;
  for (const SnapshotFunction& f : loop->functions) {
    if (f.seconds.empty()) continue;
    sampled += f.seconds[0];
    if (most == nullptr || f.seconds[0] > most->seconds[0]) most = &f;
  }
  if (view.share(before) < kLong || sampled < kSampled * before * view.app.ranks) return {};
  const auto& functions = view.app.samples.functions;
  const auto found = std::ranges::find_if(functions, [&](const SampledFunction& f) {
    return f.symbol == most->symbol && f.source_file == most->source_file;
  });
  if (found == functions.end() || found->rank_min < kAlike * found->rank_max) return {};
  return {before, name_and_place(view.app.samples, static_cast<std::size_t>(found - functions.begin()))};
}

}  // namespace

void find_thread_losses(const RunView& view, std::vector<Loss>& out) {
  const SampleProfile& s = view.app.samples;
  if (s.unit != "seconds" || !(s.self > 0) || static_cast<double>(s.samples) < kFewestSamples) return;
  const ThreadWork work = thread_work(view.app);
  const std::size_t before = out.size();
  bound_too_tightly(view, work, out);
  started_threads(view, work, out);  // such threads have no balance: several share an entry of the profile
  if (const double threads = working_threads(view.app, work); threads > 1 && out.size() == before) {
    serial_parts(view, work, threads, out);
    uneven_regions(view, work, out);
    fine_regions(view, work, threads, out);
  }
}

void find_hot_function(const RunView& view, std::vector<Loss>& out) {
  constexpr double kHot = 0.4, kMuchAsleep = 0.2;
  const SampleProfile& s = view.app.samples;
  std::string text;
  bool interpreted = false;
  const bool asleep = view.share(view.mean_on_device) >= kMuchAsleep;
  if (asleep) {
    const std::string place = place_of_sleep(view.app, view.workers);
    text = fmt::format(
        "Ranks are asleep or blocked{} for {} each, on average: a device works for them, "
        "threads wait for locks, or the program pauses",
        place.empty() ? " outside MPI" : place, human_seconds(view.mean_on_device));
  }
  if (s.self > 0 && static_cast<double>(s.samples) >= kFewestSamples) {
    const auto hottest = std::ranges::find_if(s.functions, [](const SampledFunction& f) {
      return f.kind == "code" && !f.symbol.empty() && f.symbol[0] != '(';
    });
    if (hottest != s.functions.end() && hottest->self >= kHot * s.self) {
      interpreted = hottest->module.ends_with(".py");
      text += fmt::format("{}{} of the CPU time is spent in {} (sampled, ± {})", text.empty() ? "" : ". ",
                          human_share(hottest->self / s.self),
                          name_and_place(s, static_cast<std::size_t>(hottest - s.functions.begin())),
                          human_share(std::max(hottest->self_error / s.self, 1e-3)));
    }
  }
  const SetUp set_up = asleep ? SetUp{} : long_set_up(view);
  if (set_up.seconds > 0)
    text += fmt::format("{}All ranks work for {} before the main loop, most in {}", text.empty() ? "" : ". ",
                        human_seconds(set_up.seconds), in_sentence(set_up.place));
  if (text.empty()) return;
  out.push_back({.code = "cpu.hot",
                 .ceiling = 0,
                 .text = std::move(text),
                 .advice = set_up.seconds > 0
                               ? "If each rank computes the same before the loop, let each compute a part and exchange "
                                 "the parts (MPI_Allgatherv), or keep the result in a file."
                           : asleep ? "Find out what they wait for: a profiler of the device, or a debugger, tells."
                           : interpreted
                               ? "Time is to be gained in that function: operations on whole arrays (NumPy) in place "
                                 "of loops over elements, or compiled code (Numba, Cython)."
                               : "Time is to be gained in that function: less work, vector instructions (-O3 "
                                 "-march=native), data in the order of its use."});
}

}  // namespace ardoise::reports
