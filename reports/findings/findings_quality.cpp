// Reliability of the numbers: lost or missing data, disturbance of the program by the measurement, samples.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "reports/findings/findings.hpp"
#include "reports/text/joined.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr double kDisturbing = 0.05;  // share of the program's time that the tool may have cost

void lost_records(const Facts& facts, std::vector<Finding>& out) {
  std::uint64_t lost = 0, dropped = 0, recorded = 0, all = 0;  // all: with samples
  for (const Ledger& l : facts.app.quality.ledger) {
    lost += l.lost;
    all += l.recorded;
    if (l.record_class == "samples") continue;  // dropped when the rate is lowered; the remaining samples weigh more
    dropped += l.dropped;
    recorded += l.recorded;
  }
  if (lost != 0 && facts.app.ending.moment_seconds > 0) {
    out.push_back({"records_to_come",
                   Severity::note,
                   static_cast<double>(lost) / static_cast<double>(std::max(lost, all)),
                   fmt::format("{} of {} {} still in the ranks: sums by function include them; call sites, edges and "
                               "maps do not.",
                               with_separators(lost), counted(all, "record"), lost == 1 ? "was" : "were"),
                   "",
                   {{"to_come", static_cast<double>(lost)}, {"recorded", static_cast<double>(all)}}});
  } else if (lost != 0 && facts.app.quality.analyzers_lost) {
    out.push_back({"records_lost",
                   Severity::high,
                   1,
                   fmt::format("{} of {} records were lost with killed analyzers: call sites, edges and maps lack "
                               "them.",
                               with_separators(lost), with_separators(all)),
                   "With --save-every only records since the last save are lost.",
                   {{"lost", static_cast<double>(lost)}, {"recorded", static_cast<double>(all)}}});
  } else if (lost != 0) {
    out.push_back({"records_lost",
                   Severity::high,
                   1,
                   fmt::format("{} of {} {} missing and not declared as dropped: the numbers below are too small.",
                               with_separators(lost), counted(all, "record"), lost == 1 ? "is" : "are"),
                   "Read the notices on measurement quality, and report this as a bug of the tool.",
                   {{"lost", static_cast<double>(lost)}, {"recorded", static_cast<double>(all)}}});
  }
  if (dropped != 0 && recorded != 0) {
    const double share = static_cast<double>(dropped) / static_cast<double>(recorded);
    out.push_back({"records_dropped",
                   share > 0.01 ? Severity::medium : Severity::note,
                   share,
                   fmt::format("{} of the records of calls were dropped ({} of {}). Sums by function stay exact; "
                               "minima, maxima, call sites, edges and maps cover the other records.",
                               human_share(share), with_separators(dropped), with_separators(recorded)),
                   "Use more analyzers (--analyzers).",
                   {{"dropped", static_cast<double>(dropped)}, {"recorded", static_cast<double>(recorded)}}});
  }
}

// False: the plug-in that makes ledger and sums could not be loaded.
bool is_analyzed(const Application& a) { return !a.quality.ledger.empty() || a.quality.ranks_complete != 0; }

void incomplete(const Facts& facts, std::vector<Finding>& out) {
  const Application& a = facts.app;
  if (!is_analyzed(a)) {
    out.push_back({"not_analyzed",
                   Severity::high,
                   1,
                   "This profile lacks the program's sums: the knowledge source run_summary was not loaded.",
                   "The notes on the run give the reason. Reinstall Ardoise.",
                   {}});
  } else if (a.quality.ranks_complete < a.ranks && a.ending.moment_seconds == 0) {
    const std::uint32_t missing = a.ranks - a.quality.ranks_complete;
    out.push_back({"ranks_incomplete",
                   Severity::high,
                   1,
                   fmt::format("{} of {} did not deliver all data: the end of {} run is missing.",
                               with_separators(missing), counted(a.ranks, "rank"), missing == 1 ? "its" : "their"),
                   "Check whether they aborted or left without MPI_Finalize.",
                   {{"ranks", a.ranks}, {"ranks_complete", a.quality.ranks_complete}}});
  }
  if (a.quality.bad_packs != 0) {
    out.push_back({"bad_packs",
                   Severity::high,
                   1,
                   fmt::format("{} arrived damaged and {} refused.", counted(a.quality.bad_packs, "pack"),
                               a.quality.bad_packs == 1 ? "was" : "were"),
                   "Report this as a bug of the tool.",
                   {{"bad_packs", static_cast<double>(a.quality.bad_packs)}}});
  }
}

// ": 220 ms for recording calls, 116 ns each, 2.3 s for sending and 170 ms for sampling"; "": the parts are unknown.
std::string parts_of_overhead(const Quality& q) {
  std::vector<std::string> parts;
  if (q.recording_seconds > 0) {
    parts.push_back(fmt::format("{} for recording calls, {} each", human_seconds(q.recording_seconds),
                                human_seconds(q.record_cost_seconds)));
  }
  if (q.sending_seconds > 0) parts.push_back(fmt::format("{} for sending", human_seconds(q.sending_seconds)));
  if (q.sampling_seconds > 0) parts.push_back(fmt::format("{} for sampling", human_seconds(q.sampling_seconds)));
  if (parts.empty()) return "";
  const std::string last = std::move(parts.back());
  parts.pop_back();
  return parts.empty() ? ": " + last : fmt::format(": {} and {}", joined(parts, ", "), last);
}

void disturbed(const Facts& facts, std::vector<Finding>& out) {
  const Quality& q = facts.app.quality;
  const double blocked = facts.share(q.blocked_seconds), overhead = facts.share(q.overhead_seconds);
  if (blocked > 0.01) {
    out.push_back(
        {"measurement_blocked",
         blocked > kDisturbing ? Severity::high : Severity::medium,
         blocked,
         fmt::format("The measurement delayed the program: its ranks waited {} ({} of their time) for a free buffer.",
                     human_seconds(q.blocked_seconds), human_share(blocked)),
         "Use more analyzers (--analyzers).",
         {{"blocked_seconds", q.blocked_seconds}, {"share", blocked}}});
  }
  if (overhead > kDisturbing && overhead > blocked * 1.5) {
    out.push_back(
        {"overhead",
         Severity::medium,
         overhead,
         fmt::format("Measuring cost about {} of the ranks' time, {} (an estimate{}): short calls look longer "
                     "than they are.",
                     human_share(overhead), human_seconds(q.overhead_seconds), parts_of_overhead(q)),
         "",
         {{"overhead_seconds", q.overhead_seconds},
          {"recording_seconds", q.recording_seconds},
          {"sending_seconds", q.sending_seconds},
          {"sampling_seconds", q.sampling_seconds},
          {"share", overhead}}});
  }
}

void nothing_recorded(const Facts& facts, std::vector<Finding>& out) {
  const Application& a = facts.app;
  if (!is_analyzed(a) || !a.mpi.empty() || !a.posix.empty()) return;
  const bool ended = a.quality.ranks_complete < a.ranks;
  out.push_back(
      {"nothing_recorded",
       Severity::medium,
       0,
       ended ? "This program ended without MPI_Finalize before any record of an MPI or I/O call arrived."
             : "No MPI or I/O call of this program was recorded.",
       ended ? "" : "Either it makes no such call between MPI_Init and MPI_Finalize, or it is linked statically.",
       {}});
}

// The quantity behind the shares. CPU time excludes time in which a thread waits without a processor.
std::string sampled_quantity(const SampleProfile& profile) {
  return profile.unit == "seconds" ? "CPU time" : in_sentence(profile.clock);
}

void sampling_quality(const Facts& facts, std::vector<Finding>& out) {
  const SampledThreads& t = facts.app.samples.threads;
  const double cost = std::accumulate(t.cost_seconds.begin(), t.cost_seconds.end(), 0.0);
  const double wall = std::accumulate(t.wall_seconds.begin(), t.wall_seconds.end(), 0.0);
  const auto sum = [](const std::vector<std::uint64_t>& list) {
    return static_cast<double>(std::accumulate(list.begin(), list.end(), std::uint64_t{0}));
  };
  const double taken = sum(t.taken), partial = sum(t.partial);
  if (wall > 0 && cost > 0.02 * wall) {
    out.push_back({"sampling_cost",
                   Severity::medium,
                   cost / wall,
                   fmt::format("Sampling cost {} of the threads' time, more than intended.", human_share(cost / wall)),
                   "Lower the sampling rate with --rate.",
                   {{"share", cost / wall}, {"seconds", cost}}});
  }
  const SampleProfile& s = facts.app.samples;
  if (s.self > 0 && s.at_shared_ticks > 0.1 * s.self) {
    out.push_back({"shared_ticks",
                   Severity::note,
                   0,
                   fmt::format("{} of the {} was sampled at timer interrupts of the kernel, by threads that shared "
                               "processors: shares of functions may be some percent off, beyond the margins shown.",
                               human_share(s.at_shared_ticks / s.self), sampled_quantity(s)),
                   "Give each rank a processor of its own for exact shares.",
                   {{"share", s.at_shared_ticks / s.self}}});
  }
  if (taken > 0 && partial > 0.1 * taken) {
    out.push_back({"partial_stacks",
                   Severity::note,
                   0,
                   fmt::format("{} of the call stacks could not be unwound to their outermost function; they are shown "
                               "below \"(incomplete call stack)\".",
                               human_share(partial / taken)),
                   "Build with -fno-omit-frame-pointer or with unwind tables for complete stacks.",
                   {{"share", partial / taken}, {"samples", partial}}});
  }
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

void find_quality(const Facts& facts, std::vector<Finding>& out) {
  lost_records(facts, out);
  incomplete(facts, out);
  disturbed(facts, out);
  nothing_recorded(facts, out);
  sampling_quality(facts, out);
  slow_start(facts, out);
}

}  // namespace ardoise::reports
