// Time on the critical path in which a rank sleeps or is blocked, by its reason.
#include <fmt/format.h>

#include <algorithm>

#include "reports/findings/sample_view.hpp"
#include "reports/findings/thread_work.hpp"
#include "reports/losses/affected_ranks.hpp"
#include "reports/losses/host_threads.hpp"
#include "reports/losses/losses.hpp"
#include "reports/losses/sleep_reasons.hpp"
#include "reports/losses/started_programs.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kUsualOfThreads = 0.1;  // of the work: threads never end at the same moment
constexpr double kMostOfSleep = 0.5;     // the reason of a sleep has this part of it

struct Sleep {
  std::vector<std::uint32_t> ranks;  // in ascending order
  double on_path = 0;                // s of the critical path
  double all = 0, of_ranks = 0;      // s of all ranks; of these
  std::string who;                   // "ranks 2 and 3"
  std::string where;                 // " in update_table (heat.c:17)"; "": not known
  SleepReasons reasons;              // parts of of_ranks

  explicit Sleep(const RunView& view)
      : ranks(affected(view.times, [](const RankTime& time) { return time.blocked; })),
        on_path(view.path.asleep),
        all(total(view.times, &RankTime::blocked)),
        of_ranks(sum_over(ranks, view.times, &RankTime::blocked)),
        who(ranks_in_words(view.app, ranks)),
        where(place_of_sleep(view.app, ranks)) {
    // That of devices is work.
    const bool some_is_work = !view.on_device.empty();
    for (const std::uint32_t rank : ranks) {
      const SleepReasons each = sleep_reasons(view.app.per_rank, rank);
      const double part = view.times[rank].blocked / std::max(of_ranks, 1e-12),
                   scale = some_is_work ? part / std::max(each.of_others(), 1e-12) : part;
      reasons.thread += scale * each.thread;
      reasons.program += scale * each.program;
      reasons.file_lock += scale * each.file_lock;
      reasons.pause += some_is_work ? 0 : scale * each.pause;
    }
  }

  [[nodiscard]] bool is_of_one() const { return ranks.size() == 1; }
  // "2.31 s each"
  [[nodiscard]] std::string seconds() const {
    const double mean = of_ranks / std::max<double>(1, static_cast<double>(ranks.size()));
    return human_seconds(mean) + (is_of_one() ? "" : " each");
  }
  [[nodiscard]] std::string text() const {
    constexpr double kAll = 0.9;
    const bool only_pauses = reasons.pause > kAll;
    return fmt::format("{} {}{}{} for {} (an estimate)", capitalised(who), is_of_one() ? "sleeps" : "sleep",
                       only_pauses   ? ""
                       : is_of_one() ? " or is blocked"
                                     : " or are blocked",
                       where.empty() ? " outside MPI" : where, seconds());
  }
  // "": they are many.
  [[nodiscard]] std::string where_others_wait(const Application& a) const {
    return 2 * ranks.size() < a.ranks + 1 && ranks.size() < a.ranks ? reports::where_others_wait(a, is_of_one()) : "";
  }
  [[nodiscard]] Loss loss(const char* code, double ceiling, std::string sentences) const {
    return {.code = code,
            .ceiling = ceiling,
            .own_seconds = all,
            .bucket = Bucket::asleep,
            .text = std::move(sentences),
            .ranks = ranks};
  }
};

// ---- other threads of the ranks

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

// CPU time of these ranks' threads beside the first ones, s.
double cpu_of_other_threads(const Application& a, const std::vector<std::uint32_t>& ranks) {
  double seconds = 0;
  for (const std::uint32_t rank : ranks) {
    if (rank < a.per_rank.process_cpu_seconds.size() && rank < a.per_rank.cpu_seconds.size())
      seconds += std::max(0.0, a.per_rank.process_cpu_seconds[rank] - a.per_rank.cpu_seconds[rank]);
  }
  return seconds;
}

// First threads wait for threads that work.
void for_working_threads(const RunView& view, const Sleep& sleep, std::vector<Loss>& out) {
  const Application& a = view.app;
  if (const double threads = threads_in_turn(a, sleep.ranks); threads > 0) {
    out.push_back(sleep.loss("thr.lock", sleep.on_path,
                             fmt::format("The {:.0f} threads of {} work about equally long, but hardly more than one "
                                         "at a time: they wait for each other, the first one for {} (an estimate)",
                                         threads, sleep.who, sleep.seconds())));
    return;
  }
  const LockWork locks = lock_work(a);
  const double lost =
      sleep.on_path - even_work_meanwhile(a, locks, sleep.ranks) * sleep.on_path / std::max(sleep.all, 1e-9);
  if (view.share(lost) < kMeaningful) return;
  if (locks.matters) {
    out.push_back(sleep.loss("thr.lock", lost,
                             fmt::format("Threads of {} wait for locks: {} of the CPU time is in their functions",
                                         sleep.who, human_share(locks.in_functions / a.samples.self))));
    return;
  }
  out.push_back(sleep.loss("thr.uneven", lost,
                           fmt::format("The first thread of {} waits for other threads{} for {} (an estimate)",
                                       sleep.who, sleep.where, sleep.seconds())));
  out.back().is_usual = sleep.on_path < kUsualOfThreads * view.path_work || runnable_per_processor(view) > 1 ||
                        use_their_processors_up(a, sleep.ranks);
}

void for_threads_with_files(const Sleep& sleep, double in_files, std::vector<Loss>& out) {
  const double most = in_files / std::max<double>(1, static_cast<double>(sleep.ranks.size()));
  out.push_back(sleep.loss("thr.lock", std::min(sleep.on_path, most),
                           fmt::format("The first thread of {} sleeps or is blocked{} for {} (an estimate), while "
                                       "other threads read and write files, for {} in all: it waits for their end, or "
                                       "for a lock that they hold meanwhile",
                                       sleep.who, sleep.where, sleep.seconds(), human_seconds(in_files))));
  out.back().advice =
      "Let the files be written while the first thread computes: await the end of a task (join, get, a future's "
      "destructor) only before the next one, with a second buffer, and hold no lock during reading and writing.";
}

// First threads wait for threads or processes that do not work.
void for_idle_threads(const RunView& view, const Sleep& sleep, double ceiling, std::vector<Loss>& out) {
  const double work = cpu_of_other_threads(view.app, sleep.ranks);
  std::string text =
      fmt::format("{} {}{} for another thread or process (a lock, a condition or a semaphore) for {} (an estimate)",
                  capitalised(sleep.who), sleep.is_of_one() ? "waits" : "wait", sleep.where, sleep.seconds());
  if (work > 0) text += fmt::format("; other threads use {} of CPU time", human_seconds(work));
  text += sleep.where_others_wait(view.app);
  out.push_back(sleep.loss("thr.lock", ceiling, std::move(text)));
  out.back().advice =
      "Find the holder of the lock (gdb -p PID -batch -ex 'thread apply all bt'): it must not sleep, read, write or "
      "receive before it gives the lock back.";
}

// ---- other reasons

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
  double calls = 0;
  std::uint32_t ranks = 1;
  for (const CallSite& site : a.call_sites) {
    if (site.function != "stat" && site.function != "access") continue;
    calls += static_cast<double>(site.calls);
    ranks = std::max(ranks, site.ranks);
    if (most == nullptr || site.calls > most->calls) most = &site;
  }
  if (most == nullptr || calls < kFewest * ranks) return nullptr;
  const double pause = asleep / calls;
  return pause >= kShortest && pause <= kLongest ? most : nullptr;
}

void for_file_locks(const RunView& view, const Sleep& sleep, double ceiling, std::vector<Loss>& out) {
  out.push_back(sleep.loss("io.lock", ceiling,
                           fmt::format("{} {}{} for locks of files (flock, fcntl) for {} (an estimate){}",
                                       capitalised(sleep.who), sleep.is_of_one() ? "waits" : "wait", sleep.where,
                                       sleep.seconds(), sleep.where_others_wait(view.app))));
}

// False: they start no programs.
bool for_programs(const RunView& view, const Sleep& sleep, double ceiling, std::vector<Loss>& out) {
  constexpr double kOfPrograms = 0.1, kWorkOfPrograms = 0.5;  // of the sleep
  const Application& a = view.app;
  double cpu = 0;  // of the programs
  for (const std::uint32_t rank : sleep.ranks)
    cpu += rank < a.per_rank.children_cpu_seconds.size() ? a.per_rank.children_cpu_seconds[rank] : 0;
  const bool are_waited_for = cpu > kOfPrograms * sleep.of_ranks || sleep.reasons.program > kMostOfSleep;
  const std::string starter = are_waited_for ? starter_of_programs(a, 0) : starter_of_programs(a);
  if (!are_waited_for && starter.empty()) return false;
  std::string text = sleep.text();
  if (are_waited_for) {
    text +=
        fmt::format("; programs that {} meanwhile use {} of CPU time{}", sleep.is_of_one() ? "it starts" : "they start",
                    human_seconds(cpu), starter.empty() ? "" : ", in " + in_sentence(starter));
    if (starter.empty()) text += sleep.where_others_wait(a);
  } else {
    text += fmt::format("; other programs are started meanwhile, in {}", in_sentence(starter));
  }
  out.push_back(sleep.loss("ovh.programs", ceiling, std::move(text)));
  if (cpu > kWorkOfPrograms * sleep.of_ranks)
    out.back().advice =
        "The programs work for most of this time: let them run while the ranks compute, and wait for their ends later "
        "or never; or give them less to do.";
  return true;
}

// Sleep between tests for a message (nullptr: there are none) or a file. False: neither is tested for.
bool between_tests(const RunView& view, const Sleep& sleep, const CallSite* tests, double ceiling,
                   std::vector<Loss>& out) {
  const Application& a = view.app;
  const CallSite* const asks = tests != nullptr ? tests : asks_for_files(a, sleep.all);
  if (asks == nullptr) return false;
  if (tests != nullptr)
    ceiling = std::min(ceiling, pauses_too_long(a, *tests, sleep.all, sleep.ranks.size() == a.ranks));
  out.push_back(sleep.loss("poll.sleep", ceiling,
                           fmt::format("{} between {} to {}, called from {}", sleep.text(),
                                       human_counted(static_cast<double>(asks->calls), "call"),
                                       in_sentence(asks->function), in_sentence(name_of(*asks)))));
  // The cost of a pause is known roughly.
  out.back().is_usual = view.share(ceiling) < kHighLoss;
  if (tests == nullptr)
    out.back().advice = "Let a message (MPI_Recv) tell that the file is there, or ask for it more often.";
  return true;
}

}  // namespace

void find_sleep(const RunView& view, std::vector<Loss>& out) {
  if (view.share(view.path.asleep) < kMeaningful) return;
  const Application& a = view.app;
  const Sleep sleep(view);
  const bool for_thread = sleep.reasons.thread > kMostOfSleep;
  const bool others_work =
      other_threads_work(a) || (for_thread && cpu_of_other_threads(a, sleep.ranks) > kMostOfSleep * sleep.of_ranks);
  if (others_work) return for_working_threads(view, sleep, out);
  if (const double in_files = io_of_other_threads(a); in_files > kMostOfSleep * sleep.all)
    return for_threads_with_files(sleep, in_files, out);
  const double ceiling = std::min(sleep.on_path, waiting_of_others(view, sleep.ranks));
  if (view.share(ceiling) < kMeaningful) return;
  if (for_thread) return for_idle_threads(view, sleep, ceiling, out);
  if (sleep.reasons.file_lock > kMostOfSleep) return for_file_locks(view, sleep, ceiling, out);
  const CallSite* const tests = tests_between_sleep(a, sleep.ranks.size(), sleep.all);
  if (tests == nullptr && for_programs(view, sleep, ceiling, out)) return;
  if (between_tests(view, sleep, tests, ceiling, out)) return;
  out.push_back(sleep.loss("late.asleep", ceiling, sleep.text() + sleep.where_others_wait(a)));
}

}  // namespace ardoise::reports
