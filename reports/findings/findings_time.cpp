// Split of the time into computation, MPI and I/O; load balance; the most expensive MPI call.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>

#include "reports/findings/awaited_rank.hpp"
#include "reports/findings/ending_view.hpp"
#include "reports/findings/extra_work.hpp"
#include "reports/findings/findings.hpp"
#include "reports/findings/waiting_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr double kAcceptable = 0.8;  // POP: efficiencies above are regarded as acceptable
constexpr double kMention = 0.02;    // a smaller share is noise

// Most of the time in MPI is in calls that had not returned when the run hung or was ended.
bool is_mostly_unfinished(const Facts& facts) { return unfinished_mpi_seconds(facts.app) > 0.5 * facts.mpi_seconds; }

void time_split(const Facts& facts, std::vector<Finding>& out) {
  const Application& a = facts.app;
  if (a.mpi.empty() && a.posix.empty()) {
    if (!is_analyzed(a)) return;
    if (a.quality.ranks_complete < a.ranks) {
      out.push_back({"nothing_recorded",
                     Severity::medium,
                     0,
                     "This program ended without MPI_Finalize before any record of an MPI or I/O call arrived.",
                     "",
                     {}});
      return;
    }
    out.push_back({"nothing_recorded",
                   Severity::medium,
                   0,
                   "No MPI or I/O call of this program was recorded.",
                   "Either it makes no such call between MPI_Init and MPI_Finalize, or it is linked statically.",
                   {}});
    return;
  }
  if (facts.rank_seconds <= 0) return;
  const Efficiency& e = facts.efficiency;
  const double mpi = e.known ? e.mpi_share : facts.share(facts.mpi_seconds),
               io = e.known ? e.io_share : facts.share(facts.io_seconds),
               computing = e.known ? e.computing_share : std::max(0.0, 1 - mpi - io);
  const auto sum = [](const std::vector<double>& list) { return std::accumulate(list.begin(), list.end(), 0.0); };
  const double own_cpu = sum(a.per_rank.cpu_seconds), all_cpu = sum(a.per_rank.process_cpu_seconds);
  const char* verdict = computing >= kAcceptable && e.known && !e.has_kernel_times ? "most of the time is outside MPI"
                        : computing >= kAcceptable ? "most of the time is the program's own work"
                        : mpi >= 0.5 && is_mostly_unfinished(facts)
                            ? "most of its time in MPI is in calls that had not returned"
                        : mpi >= 0.5 ? "it spends more time in MPI than outside"
                        : io >= 0.3  ? "file I/O is a large part"
                        : e.blocked_share >= 0.2 && all_cpu > 1.5 * own_cpu
                            ? "much of the time the threads that called MPI_Init wait for other threads"
                        : e.blocked_share >= 0.2 ? "much of the time it sleeps or is blocked outside MPI"
                        : e.waiting_share >= 0.2 ? "much of the time it waits for a processor"
                                                 : "MPI and I/O are a noticeable part";
  const std::string ranks =
      a.ranks == 1 ? "the rank's time" : fmt::format("the time of its {} ranks", with_separators(a.ranks));
  std::string text = fmt::format("{} of {} is {}, {} MPI, {} file I/O", human_share(computing), ranks,
                                 e.known && !e.has_kernel_times ? "outside MPI and file I/O" : "computation",
                                 human_share(mpi), human_share(io));
  if (e.waiting_share >= kMention) text += fmt::format(", {} waiting for a processor", human_share(e.waiting_share));
  if (e.blocked_share >= kMention)
    text += fmt::format(", {} asleep or blocked elsewhere", human_share(e.blocked_share));
  out.push_back({"time_shares",
                 Severity::note,
                 1,
                 fmt::format("{}: {}.", text, verdict),
                 "",
                 {{"computation_share", computing},
                  {"mpi_share", mpi},
                  {"io_share", io},
                  {"waiting_share", e.waiting_share},
                  {"blocked_share", e.blocked_share}}});
}

// The activity with most of a rank's useful time: "computes".
std::string verb_of(const RankTime& time) {
  if (time.computing >= time.io && time.computing >= time.blocked)
    return time.has_kernel_times ? "computes" : "is outside MPI";
  return time.io >= time.blocked ? "does file I/O and computes" : "sleeps or is blocked outside MPI";
}

// "; the others wait for it in MPI_Allreduce called from main": the call with most time in MPI, returned or not. "":
// they may wait for ranks of other programs.
std::string waiting_place(const Facts& facts) {
  constexpr double kMostlyOthers = 0.25;  // of its time in MPI
  const double in_mpi = std::transform_reduce(facts.app.mpi.begin(), facts.app.mpi.end(), 0.0, std::plus{},
                                              [](const FunctionProfile& each) { return each.seconds; });
  if (has_unjudged_calls(facts.app) || waiting_for_others(facts.app) > kMostlyOthers * in_mpi) return "";
  constexpr std::string_view kWait = "; the others wait for it in ";
  const auto most = std::max_element(facts.app.mpi.begin(), facts.app.mpi.end(),
                                     [](const auto& x, const auto& y) { return x.seconds < y.seconds; });
  const UnfinishedCall unfinished = longest_unfinished_call(facts.app, facts.efficiency.slowest_rank);
  if (!unfinished.function.empty() && (most == facts.app.mpi.end() || unfinished.seconds > most->seconds))
    return fmt::format("{}{}{}", kWait, unfinished.function,
                       unfinished.place.empty() ? "" : " called from " + unfinished.place);
  if (most == facts.app.mpi.end()) return fmt::format("{}MPI", kWait);
  const std::string site = facts.main_call_site(most->function);
  return fmt::format("{}{}{}", kWait, in_sentence(most->function), site.empty() ? "" : " called from " + site);
}

void balance(const Facts& facts, std::vector<Finding>& out) {
  const Efficiency& e = facts.efficiency;
  if (!e.known || facts.app.ranks < 2 || e.max_useful <= 0) return;
  const double gain = e.max_useful - e.mean_useful,
               share = facts.app.wall_seconds > 0 ? gain / facts.app.wall_seconds : 0;
  if (e.load_balance < 0.95 && share > 0.02) {
    out.push_back(
        {"load_imbalance",
         e.load_balance < kAcceptable ? Severity::high : Severity::medium,
         std::min(1.0, share),
         fmt::format("Work is unevenly spread: rank {} {} for {}, the mean is {} (load balance "
                     "{:.2f}){}.{} Evenly spread work could shorten the run by up to "
                     "{} ({} of it; an estimate).",
                     facts.app.world_rank(e.slowest_rank), verb_of(times_of_ranks(facts.app)[e.slowest_rank]),
                     human_seconds(e.max_useful), human_seconds(e.mean_useful), e.load_balance, waiting_place(facts),
                     extra_work_sentence(facts.app, e.slowest_rank), human_seconds(gain), human_share(share)),
         extra_work(facts.app, e.slowest_rank)
             ? "Reduce that work or spread it over the ranks."
             : "The map of MPI time shows the waiting ranks (most MPI time) and the awaited ranks (least MPI time).",
         {{"load_balance", e.load_balance},
          {"max_useful_seconds", e.max_useful},
          {"mean_useful_seconds", e.mean_useful},
          {"slowest_rank", facts.app.world_rank(e.slowest_rank)}}});
  }
  if (e.communication < kAcceptable && !is_mostly_unfinished(facts)) {
    out.push_back({"communication_efficiency",
                   e.communication < 0.6 ? Severity::high : Severity::medium,
                   1 - e.communication,
                   fmt::format("Even the busiest rank is outside MPI for only {} of the run (communication efficiency "
                               "{:.2f}; above {:.1f} is regarded as "
                               "acceptable): messages, or ranks that wait for each other in turn, cost the rest.",
                               human_share(e.communication), e.communication, kAcceptable),
                   "",  // it names no cause
                   {{"communication_efficiency", e.communication}, {"parallel_efficiency", e.parallel}}});
  }
}

// Considers only calls that no other rule covers.
void dominating_call(const Facts& facts, std::vector<Finding>& out) {
  const FunctionProfile* most = nullptr;
  for (const FunctionProfile& f : facts.app.mpi) {
    if (!is_judged_as_collective(facts, f) && (most == nullptr || f.seconds > most->seconds)) most = &f;
  }
  if (most == nullptr || facts.mpi_seconds <= 0) return;
  const FunctionProfile& f = *most;
  const double share = facts.share(f.seconds), of_mpi = std::min(1.0, f.seconds / facts.mpi_seconds);
  if (share < 0.05) return;
  const std::string site = facts.main_call_site(f.function);
  const double waiting = waiting_in(facts.app, f.function);
  const std::string why =
      facts.efficiency.parts_known && f.seconds > 0
          ? fmt::format("; {} of that is waiting for other ranks.{}", human_share(waiting / f.seconds),
                        waiting >= 0.5 * f.seconds ? awaited_rank_in_words(facts.app) : "")
          : ".";
  out.push_back(
      {"dominating_call",
       share > 0.25 ? Severity::medium : Severity::note,
       share,
       fmt::format("{} takes {} of the time in MPI ({} of all){}{}", in_sentence(f.function), human_share(of_mpi),
                   human_share(share), site.empty() ? "" : ", most of it called from " + site, why),
       "",
       {{"seconds", f.seconds}, {"share", share}, {"share_of_mpi", of_mpi}, {"calls", static_cast<double>(f.calls)}}});
}

void slow_start(const Facts& facts, std::vector<Finding>& out) {
  const Application& a = facts.app;
  if (a.init_seconds < 1 || a.init_seconds < 0.2 * a.wall_seconds) return;
  out.push_back({"slow_init",
                 Severity::note,
                 0,
                 fmt::format("MPI_Init took {}, which the wall time of {} does not include.",
                             human_seconds(a.init_seconds), human_seconds(a.wall_seconds)),
                 "",
                 {{"init_seconds", a.init_seconds}}});
}

}  // namespace

void find_time(const Facts& facts, std::vector<Finding>& out) {
  time_split(facts, out);
  balance(facts, out);
  dominating_call(facts, out);
  slow_start(facts, out);
}

}  // namespace ardoise::reports
