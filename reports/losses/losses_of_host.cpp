// Time on the critical path in which a rank did not run, or the kernel worked for it.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/thread_work.hpp"
#include "reports/losses/host_threads.hpp"
#include "reports/losses/losses.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/python_files.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kUsualOfThreads = 0.1;   // of the work: threads never end at the same moment
constexpr double kUsualOfKernel = 0.07;   // of the run: large arrays that are made anew
constexpr double kBesideFiles = 0.1;      // time in the kernel ÷ time in files
constexpr double kMostOfKernel = 0.5;     // of the time in the kernel, beneath one function
constexpr double kShortFileCall = 20e-6;  // s; calls that are not recorded (lseek, fstat) may take as long beside them
constexpr double kInaccuracy = 0.2;       // processors
constexpr double kMostOfLack = 0.5;       // CPU time of an analyzer ÷ time in which ranks lacked a processor
constexpr double kAlso = 0.3;             // of the most affected rank: affected too

double total(const std::vector<RankTime>& times, double RankTime::*part) {
  return std::accumulate(times.begin(), times.end(), 0.0, [&](double sum, const RankTime& t) { return sum + t.*part; });
}

// The ranks that spent much in this.
std::vector<std::uint32_t> affected(const std::vector<RankTime>& times, const auto& seconds_of) {
  double most = 0;
  for (const RankTime& time : times) most = std::max(most, seconds_of(time));
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < times.size(); ++rank) {
    if (most > 0 && seconds_of(times[rank]) >= kAlso * most) ranks.push_back(rank);
  }
  return ranks;
}

double sum_over(const std::vector<std::uint32_t>& ranks, const std::vector<RankTime>& times, double RankTime::*part) {
  double sum = 0;
  for (const std::uint32_t rank : ranks) sum += times[rank].*part;
  return sum;
}

// Threads of all programs that need a processor ÷ processors, on the most crowded host of this one; 0: unknown.
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

// Time that these ranks sleep, or lack a processor, costs the others no more than these wait for them, and no more than
// one of them waits. All ranks: no limit.
double waiting_of_others(const RunView& view, const std::vector<std::uint32_t>& ranks) {
  const std::vector<double>& waiting = view.app.waiting.per_rank.waiting_seconds;
  const std::vector<double>& caused = view.app.waiting.per_rank.caused_seconds;
  if (ranks.size() == view.times.size() || waiting.size() != view.times.size() || caused.size() != waiting.size() ||
      view.unknown_waits > kAlso)
    return view.run;
  double longest = 0, for_them = 0;
  for (std::uint32_t rank = 0; rank < waiting.size(); ++rank) {
    if (std::ranges::binary_search(ranks, rank))
      for_them += caused[rank];
    else
      longest = std::max(longest, waiting[rank]);
  }
  return std::min(longest, for_them);
}

// The processors that these ranks may use are busy with their own threads all the time.
bool use_their_processors_up(const Application& a, const std::vector<std::uint32_t>& ranks) {
  constexpr double kFull = 0.85, kOthers = 1.5;  // of the processors' time; CPU time ÷ that of first threads
  const RankSummary& r = a.per_rank;
  return !ranks.empty() && std::ranges::all_of(ranks, [&](std::uint32_t rank) {
    return rank < r.processors.size() && rank < r.process_cpu_seconds.size() && rank < r.cpu_seconds.size() &&
           r.processors[rank] > 0 && r.process_cpu_seconds[rank] > kFull * r.wall_seconds[rank] * r.processors[rank] &&
           r.process_cpu_seconds[rank] > kOthers * r.cpu_seconds[rank];
  });
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
  const bool foreign = !own && (load > 0 ? load <= 1 : few);
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
           own ? fmt::format("; the threads of a rank use all of {} processor{}",
                             a.per_rank.processors[ranks[0]] == 1 ? "its only" : "its",
                             a.per_rank.processors[ranks[0]] == 1 ? "" : "s")
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

// Threads of these ranks that work about equally long, at most little more than one of them at a time; 0: none. Threads
// of OpenMP may run while they wait.
double threads_in_turn(const Application& a, const std::vector<std::uint32_t>& ranks) {
  constexpr double kEqual = 0.8, kAtATime = 1.3;
  if (std::ranges::any_of(a.samples.functions, is_openmp)) return 0;
  const auto of_ranks = threads_of_ranks(a.samples.threads);
  double all = 0, possible = 0, threads = 0, seconds = 0;
  for (const std::uint32_t rank : ranks) {
    seconds += a.per_rank.wall_seconds[rank];
    const auto found = of_ranks.find(rank);
    if (found == of_ranks.end()) continue;
    threads += found->second.working;
    all += found->second.of_working;
    possible += found->second.busiest * found->second.working;
  }
  const auto count = static_cast<double>(ranks.size());
  const bool in_turn = threads >= 2 * count && all > kEqual * possible && all < kAtATime * seconds;
  return in_turn ? threads / count : 0;
}

// While first threads that only start and join others wait: the time that the others would need with equal work and
// without locks, over these ranks.
double even_work_meanwhile(const Application& a, const LockWork& locks, const std::vector<std::uint32_t>& ranks) {
  double seconds = 0;
  const auto of_ranks = threads_of_ranks(a.samples.threads);
  const double useful = 1 - std::min(1.0, (locks.in_functions + locks.in_kernel) / std::max(a.samples.self, 1e-9));
  for (const std::uint32_t rank : ranks) {
    const auto found = of_ranks.find(rank);
    if (found == of_ranks.end() || !found->second.first_only_waits || found->second.working == 0) continue;
    seconds += found->second.of_working * useful / found->second.working;
  }
  return seconds;
}

// The program's function that starts other programs, if these starts take more than this part of the CPU time; "":
// none.
std::string starter_of_programs(const Application& a, double good_part = 0.03) {
  const SampleProfile& s = a.samples;
  const auto starts = [](const SampledFunction& f) {
    const std::string_view symbol = without_underscores(f.symbol);
    return symbol == "fork" || symbol == "vfork" || symbol == "libc_fork" || symbol.starts_with("posix_spawn") ||
           symbol.starts_with("spawni") || symbol == "do_system" || symbol == "Popen.__init__" ||
           symbol == "Popen._execute_child";
  };
  std::vector<bool> beneath(s.tree.parent.size());
  std::vector<double> seconds(s.functions.size());
  for (std::uint32_t i = 0; i < beneath.size(); ++i) {
    const std::uint32_t parent = s.tree.parent[i];
    beneath[i] = starts(s.functions[s.tree.function[i]]) || (parent != kNoParent && beneath[parent]);
    if (beneath[i]) seconds[function_of_program(s, i)] += s.tree.self[i];
  }
  const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  if (!(all > good_part * s.self)) return "";
  const auto most = std::ranges::max_element(seconds);
  return name_and_place(s, static_cast<std::size_t>(most - seconds.begin()));
}

// At most one pause for each message comes after it is there; if the senders sleep as well, it leaves late by another
// one. asleep: of all ranks.
double pauses_too_long(const Application& a, const CallSite& tests, double asleep, bool all_sleep) {
  double messages = 0;
  for (const Edge& edge : a.edges) messages += static_cast<double>(edge.messages);
  const double pause = asleep / static_cast<double>(tests.calls);
  return messages > 0 ? (all_sleep ? 2 : 1) * messages / a.ranks * pause : asleep;
}

// The calls with which ranks ask again and again for a file, sleeping in between; nullptr: they do not.
const CallSite* asks_for_files(const Application& a, double asleep) {
  constexpr double kFewest = 10, kShortest = 0.2e-3, kLongest = 5;  // of a rank; s of sleep for each call
  const CallSite* most = nullptr;
  for (const CallSite& site : a.call_sites) {
    if (site.function != "stat" && site.function != "access") continue;
    if (most == nullptr || site.calls > most->calls) most = &site;
  }
  if (most == nullptr || static_cast<double>(most->calls) < kFewest * std::max(most->ranks, 1u)) return nullptr;
  const double pause = asleep / static_cast<double>(most->calls);
  return pause >= kShortest && pause <= kLongest ? most : nullptr;
}

// A rank that sleeps while the others wait, or ranks that sleep between tests for messages.
void asleep(const RunView& view, std::vector<Loss>& out) {
  const double seconds = view.path.asleep;
  if (view.share(seconds) < kMeaningful) return;
  const Application& a = view.app;
  const std::vector<std::uint32_t> ranks = affected(view.times, [](const RankTime& time) { return time.blocked; });
  const double all = total(view.times, &RankTime::blocked);
  const double count = std::max<double>(1, static_cast<double>(ranks.size()));
  if (const double threads = threads_in_turn(a, ranks); threads > 0 && other_threads_work(a)) {
    out.push_back(
        {.code = "thr.lock",
         .ceiling = seconds,
         .own_seconds = all,
         .bucket = Bucket::asleep,
         .text = fmt::format("The {:.0f} threads of {} work about equally long, but hardly more than one at a "
                             "time: they wait for each other, the first one for {} each (an estimate)",
                             threads, ranks_in_words(a, ranks), human_seconds(all / count))});
    return;
  }
  if (other_threads_work(a)) {
    const LockWork locks = lock_work(a);
    const double lost = seconds - even_work_meanwhile(a, locks, ranks) * seconds / std::max(all, 1e-9);
    if (view.share(lost) < kMeaningful) return;
    if (locks.matters) {
      out.push_back({.code = "thr.lock",
                     .ceiling = lost,
                     .own_seconds = all,
                     .bucket = Bucket::asleep,
                     .text = fmt::format("Threads of {} wait for locks: {} of the CPU time is in their functions",
                                         ranks_in_words(a, ranks), human_share(locks.in_functions / a.samples.self))});
      return;
    }
    out.push_back({.code = "thr.uneven",
                   .ceiling = lost,
                   .own_seconds = all,
                   .bucket = Bucket::asleep,
                   .text = fmt::format("The first thread of {} waits for other threads for {} each (an estimate)",
                                       ranks_in_words(a, ranks), human_seconds(all / count)),
                   .is_usual = seconds < kUsualOfThreads * view.path_work || runnable_per_processor(view) > 1 ||
                               use_their_processors_up(a, ranks)});
    return;
  }
  if (const double others = io_of_other_threads(a); others > 0.5 * all) {
    out.push_back({.code = "thr.lock",
                   .ceiling = std::min(seconds, others / count),
                   .own_seconds = all,
                   .bucket = Bucket::asleep,
                   .text = fmt::format(
                       "The first thread of {} sleeps or is blocked for {} each (an estimate), while other threads "
                       "read and write files, for {} in all: it waits for them, perhaps for a lock that they hold "
                       "meanwhile",
                       ranks_in_words(a, ranks), human_seconds(all / count), human_seconds(others)),
                   .advice = "Hold no lock during reading and writing: exchange full buffers for empty ones under the "
                             "lock, and write after it is given back."});
    return;
  }
  const double most = std::min(seconds, waiting_of_others(view, ranks));
  if (view.share(most) < kMeaningful) return;
  const CallSite* const tests = tests_between_sleep(a, ranks.size(), all);
  constexpr double kOfPrograms = 0.1, kWorkOfPrograms = 0.5;  // of the sleep
  double children = 0;
  for (const std::uint32_t rank : ranks)
    children += rank < a.per_rank.children_cpu_seconds.size() ? a.per_rank.children_cpu_seconds[rank] : 0;
  const bool of_programs = children > kOfPrograms * sum_over(ranks, view.times, &RankTime::blocked);
  const std::string starter = tests != nullptr ? "" : of_programs ? starter_of_programs(a, 0) : starter_of_programs(a);
  const CallSite* const of_file =
      tests == nullptr && starter.empty() && !of_programs ? asks_for_files(a, all) : nullptr;
  const double mean = sum_over(ranks, view.times, &RankTime::blocked) / count;
  std::string text =
      fmt::format("{} {} or {} blocked outside MPI for {}{} (an estimate)", capitalised(ranks_in_words(a, ranks)),
                  ranks.size() == 1 ? "sleeps" : "sleep", ranks.size() == 1 ? "is" : "are", human_seconds(mean),
                  ranks.size() == 1 ? "" : " each");
  if (of_programs) {
    text +=
        fmt::format("; programs that {} meanwhile use {} of CPU time{}", ranks.size() == 1 ? "it starts" : "they start",
                    human_seconds(children), starter.empty() ? "" : ", in " + in_sentence(starter));
    if (starter.empty() && 2 * ranks.size() < a.ranks + 1) text += where_others_wait(a, ranks.size() == 1);
  } else if (!starter.empty()) {
    text += fmt::format("; other programs are started meanwhile, in {}", in_sentence(starter));
  } else if (const CallSite* const asks = tests != nullptr ? tests : of_file; asks != nullptr) {
    text += fmt::format(" between {} to {}, called from {}", human_counted(static_cast<double>(asks->calls), "call"),
                        in_sentence(asks->function), in_sentence(name_of(*asks)));
  } else if (2 * ranks.size() < a.ranks) {
    text += where_others_wait(a, ranks.size() == 1);
  }
  out.push_back(
      {.code = of_programs || !starter.empty()          ? "ovh.programs"
               : tests != nullptr || of_file != nullptr ? "poll.sleep"
                                                        : "late.asleep",
       .ceiling = std::min(most, tests != nullptr ? pauses_too_long(a, *tests, all, ranks.size() == a.ranks) : seconds),
       .own_seconds = all,
       .bucket = Bucket::asleep,
       .text = std::move(text),
       .ranks = ranks});
  if (of_file != nullptr)
    out.back().advice = "Let a message (MPI_Recv) tell that the file is there, or ask for it more often.";
  if (children > kWorkOfPrograms * sum_over(ranks, view.times, &RankTime::blocked))
    out.back().advice =
        "The programs work for most of this time: let them run while the ranks compute, and wait for their ends later "
        "or never; or give them less to do.";
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
  asleep(view, out);
  kernel(view, out);
}

}  // namespace ardoise::reports
