// Time on the critical path in which a rank waits for a processor, or the kernel works for it.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/thread_work.hpp"
#include "reports/losses/affected_ranks.hpp"
#include "reports/losses/host_threads.hpp"
#include "reports/losses/losses.hpp"
#include "reports/losses/started_programs.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/python_files.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kUsualOfKernel = 0.07;   // of the run: large arrays that are made anew
constexpr double kBesideFiles = 0.1;      // time in the kernel ÷ time in files
constexpr double kMostOfKernel = 0.5;     // of the time in the kernel, beneath one function
constexpr double kShortFileCall = 20e-6;  // s; calls that are not recorded (lseek, fstat) may take as long beside them
constexpr double kMostOfLack = 0.5;       // CPU time of an analyzer ÷ time in which ranks lacked a processor

// "; threads beside the first ones spend 2.51 s in await_job (recorder.cpp:20)"; "": they do not need a processor.
std::string work_of_other_threads(const Application& a) {
  constexpr double kMuch = 0.2;  // of the CPU time
  const SampleProfile& s = a.samples;
  const std::vector<bool> other = in_other_threads(s);
  std::vector<double> seconds(s.functions.size());
  for (std::size_t i = 0; i < other.size(); ++i) {
    const std::uint32_t function = s.tree.function[i];
    if (other[i] && s.functions[function].kind != "tool") seconds[function] += s.tree.self[i];
  }
  const auto most = std::ranges::max_element(seconds);
  if (s.unit != "seconds" || most == seconds.end() || *most < kMuch * s.self) return "";
  return fmt::format("; threads beside the first ones spend {} of CPU time in {}", human_seconds(*most),
                     in_sentence(name_and_place(s, static_cast<std::size_t>(most - seconds.begin()))));
}

void processor(const RunView& view, std::vector<Loss>& out) {
  if (view.share(view.path.processor) < kMeaningful) return;
  const Application& a = view.app;
  const std::vector<std::uint32_t> ranks =
      affected(view.times, [](const RankTime& time) { return time.waiting + time.mpi_without_processor; });
  const double load = runnable_per_processor(view), all = total(view.times, &RankTime::waiting);
  const std::string other_threads = load > 1 ? work_of_other_threads(a) : "";
  const bool few = 2 * ranks.size() < a.ranks;
  const double seconds = std::min(view.path.processor, waiting_of_others(view, ranks));
  if (view.share(seconds) < kMeaningful) return;
  if (const auto bound = load <= 1 ? most_shared_processors(view) : std::nullopt) {
    const std::string which = bound->processors == 1 ? fmt::format("processor {}", bound->first)
                                                     : fmt::format("the same {} processors", bound->processors);
    out.push_back({.code = "node.bind",
                   .ceiling = seconds,
                   .own_seconds = all,
                   .bucket = Bucket::processor,
                   .text = fmt::format("{} may use {} only, for {:.1f} threads that need one; their host has {}",
                                       capitalised(ranks_in_words(a, bound->ranks)), which, bound->threads,
                                       counted(bound->of_host, "processor")),
                   .advice =
                       "Give each rank processors of its own: mpirun --report-bindings shows what they have, "
                       "--bind-to and --map-by change it, --cpu-set, taskset and sched_setaffinity limit it. Jobs that "
                       "share a host need different processors."});
    return;
  }
  const bool own = use_their_processors_up(a, ranks);
  const bool full = !own && load > 0 && load <= 1 && ranks.size() < a.ranks && fills_a_host(a);
  const bool foreign = !own && !full && (load > 0 ? load <= 1 : few);
  const double lacking =
      sum_over(ranks, view.times, &RankTime::waiting) + sum_over(ranks, view.times, &RankTime::mpi_without_processor);
  const bool of_analyzer = foreign && load > 0 && a.quality.analyzer_cpu_seconds > kMostOfLack * lacking;
  out.push_back(
      {.code = foreign ? "node.foreign" : "node.oversub",
       .ceiling = seconds,
       .own_seconds = all,
       .bucket = Bucket::processor,
       .text = fmt::format(
           "{} {} for a processor for {}{} (an estimate){}", capitalised(ranks_in_words(a, ranks)),
           ranks.size() == 1 ? "waits" : "wait", human_seconds(lacking / static_cast<double>(ranks.size())),
           ranks.size() == 1 ? "" : " each",
           own    ? fmt::format("; the threads of a rank use all of {} processor{}",
                             a.per_rank.processors[ranks[0]] == 1 ? "its only" : "its",
                             a.per_rank.processors[ranks[0]] == 1 ? "" : "s")
           : full ? "; the other ranks keep the processors of the host busy"
           : load > 1
               ? fmt::format("; the programs have {:.1f} threads for each processor of the host{}", load, other_threads)
           : load > 0 ? fmt::format("; the host has a processor for each thread of {}: {}",
                                    a.other_threads.empty() ? "this program" : "this launch",
                                    of_analyzer ? fmt::format("the analyzer of this tool used {} of CPU time there",
                                                              human_seconds(a.quality.analyzer_cpu_seconds))
                                                : "other programs run there")
           : few      ? where_others_wait(a, ranks.size() == 1)
                      : ""),
       .ranks = few ? ranks : std::vector<std::uint32_t>{},
       .is_usual = of_analyzer});  // the program comes first
  if (of_analyzer) out.back().advice = "Leave a processor of the host to the analyzer: start a rank less there.";
  if (!other_threads.empty())
    out.back().advice =
        "Start fewer ranks or threads on each host. If such a thread only waits for work, let it sleep (a condition "
        "variable) in place of testing again and again.";
}

// The makers of fresh memory in the language of most sampled code; "": they are seen in the code.
std::string fresh_memory_in(const SampleProfile& s) {
  double fortran = 0, python = 0, all = 0;
  for (const SampledFunction& f : s.functions) {
    if (!is_code(f)) continue;
    const std::size_t dot = f.source_file.rfind('.');
    const std::string ending = dot == std::string::npos ? "" : f.source_file.substr(dot);
    all += f.self;
    if (ending.starts_with(".f") || ending.starts_with(".F")) fortran += f.self;
    if (ending == ".py" || is_python_library(f.module)) python += f.self;
  }
  if (python > all / 2)
    return " In NumPy, each expression and np.append make new arrays: write into existing ones (out=), and let tables "
           "grow in large blocks.";
  if (fortran > all / 4)
    return " In Fortran, array expressions and sections passed as arguments may be copied for each call: gfortran "
           "-Warray-temporaries names them.";
  return "";
}

void kernel(const RunView& view, std::vector<Loss>& out) {
  if (view.share(view.path.kernel) < kMeaningful) return;
  // Samples do not tell time in the kernel beside many calls on files from the time in them.
  double calls = 0, seconds = 0;
  for (const FunctionProfile& f : view.app.posix) {
    calls += static_cast<double>(f.calls);
    seconds += f.seconds;
  }
  const double beside_files = seconds < kShortFileCall * calls ? 1 : kBesideFiles;
  if (view.mean_kernel < beside_files * view.mean_io) return;
  const SampleProfile& s = view.app.samples;
  if (lock_work(view.app).matters) return;
  std::vector<double> beneath = kernel_beneath(s);
  double all = 0, of_openmp = 0;  // which puts threads to sleep
  for (std::size_t i = 0; i < beneath.size(); ++i) {
    all += beneath[i];
    if (!is_openmp(s.functions[i])) continue;
    of_openmp += beneath[i];
    beneath[i] = 0;
  }
  const double part = all > 0 ? 1 - of_openmp / all : 1;
  if (view.share(view.path.kernel * part) < kMeaningful) return;
  const auto most = std::ranges::max_element(beneath);
  // A sample has the time in the kernel since the one before, and that may be another function's.
  const bool placed = most != beneath.end() && *most > kMostOfKernel * std::max(s.kernel, all);
  const std::string place =
      placed ? ", most of it below " + name_and_place(s, static_cast<std::size_t>(most - beneath.begin())) : "";
  const std::string share = human_share(s.self > 0 ? part * view.mean_kernel * view.app.ranks / s.self : 0);
  const std::string starter = starter_of_programs(view.app);
  out.push_back(
      {.code = starter.empty() ? "mem.faults" : "ovh.programs",
       .ceiling = view.path.kernel * part,
       .own_seconds = view.mean_kernel * view.app.ranks * part,
       .bucket = Bucket::kernel,
       .text = starter.empty()
                   ? fmt::format("{} of the CPU time is spent in the kernel, for page faults or system calls "
                                 "outside MPI and file I/O{} (sampled)",
                                 share, place)
                   : fmt::format("{} of the CPU time is spent in the kernel (sampled), while other programs are "
                                 "started in {}",
                                 share, in_sentence(starter)),
       .is_usual = view.share(view.path.kernel * part) < kUsualOfKernel});
  if (const std::string makers = fresh_memory_in(s); starter.empty() && !makers.empty())
    out.back().advice = std::string(find_loss_code("mem.faults")->remedy) + makers;
}

}  // namespace

void find_host_losses(const RunView& view, std::vector<Loss>& out) {
  processor(view, out);
  kernel(view, out);
}

}  // namespace ardoise::reports
