// Losses as findings: the greatest one that can be won back leads. docs/internals/diagnosis.md says how well they name
// causes.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "reports/findings/findings.hpp"
#include "reports/losses/losses.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

Severity severity_of(double share) {
  return share >= kHighLoss ? Severity::high : share >= kMediumLoss ? Severity::medium : Severity::note;
}

// Bytes that must be moved take time, and every machine has some noise, without a fault.
bool is_usual(const Loss& loss, double share) {
  constexpr double kUsualBytes = 0.15;
  const bool moves_bytes = loss.code == "io.volume" || loss.code == "io.checkpoint" || loss.code == "ovh.volume" ||
                           loss.code == "ovh.alltoall";
  return loss.is_usual || (moves_bytes && share < kUsualBytes) || (loss.code == "late.noise" && share < kHighLoss);
}

// Ranks without a processor make calls longer, and others late: such losses may be theirs.
bool may_be_load(const Loss& loss) {
  return loss.bucket == Bucket::processor || loss.bucket == Bucket::transfer || loss.code == "late.noise" ||
         loss.code == "late.moving" || loss.code == "order.late_receiver" || loss.code.starts_with("hub.") ||
         loss.code.starts_with("chain.");
}

// Share of the run. Losses that load does not make are as large without it, in a run that is shorter.
double share_of(const Loss& loss, const RunView& view) {
  return may_be_load(loss) || !(view.run > 0) ? view.share(loss.ceiling)
                                              : std::min(1.0, loss.ceiling / view.run_without_load());
}

Finding finding_of(const Loss& loss, const RunView& view) {
  constexpr double kOtherShare = 1.25;
  const double share = share_of(loss, view), of_run = view.share(loss.ceiling);
  const std::string beside_load =
      share > kOtherShare * of_run ? fmt::format(", {} of the run without the wait for processors", human_share(share))
                                   : "";
  Finding finding{loss.code,
                  is_usual(loss, share) ? Severity::note : severity_of(share),
                  share,
                  fmt::format("{}. At most {} of {} ({}{}) can be won back.", loss.text, human_seconds(loss.ceiling),
                              human_seconds(view.run), human_share(of_run), beside_load),
                  loss.advice,
                  loss.evidence};
  if (const LossCode* const code = find_loss_code(loss.code); code != nullptr && finding.advice.empty())
    finding.advice = code->remedy;
  finding.evidence.emplace_back("ceiling_seconds", loss.ceiling);
  finding.evidence.emplace_back("share", of_run);
  return finding;
}

// So many calls a second that their number is the loss, whatever the load.
bool is_by_number(const Loss& loss, const RunView& view) {
  constexpr double kMany = 1e5;
  const auto calls = std::ranges::find(loss.evidence, "calls_per_rank", [](const auto& each) { return each.first; });
  return (loss.code == "ovh.tiny" || loss.code == "ovh.element" || loss.code == "ovh.fuse") &&
         calls != loss.evidence.end() && calls->second > kMany * view.run;
}

// A loss measured by durations may be due to lack of processors, if ranks wait for these for longer than it costs.
Severity severity_beside_load(const Loss& loss, const RunView& view, Severity severity) {
  constexpr double kUncertain = 0.5, kSmall = 0.25, kIndependent = 0.1;  // of what the lack of processors costs
  const bool by_duration = (loss.bucket != Bucket::work || loss.code == "late.noise" || loss.code == "late.moving" ||
                            loss.code == "thr.uneven") &&
                           !is_by_number(loss, view);
  const double load = view.path.processor;
  if (!by_duration || loss.bucket == Bucket::processor ||
      loss.ceiling >= (may_be_load(loss) ? kUncertain : kIndependent) * load)
    return severity;
  const bool is_small = may_be_load(loss) && loss.ceiling < kSmall * load;
  return std::min(severity, share_of(loss, view) >= kHighLoss && !is_small ? Severity::medium : Severity::note);
}

// How long bytes take to move is hardly known where ranks lack processors for much longer.
bool is_uncertain(const Loss& loss, const RunView& view) {
  constexpr double kBesideLoad = 0.15;
  return (loss.code == "ovh.volume" || loss.code == "ovh.alltoall") && loss.ceiling < kBesideLoad * view.path.processor;
}

std::string why_not_known(const RunView& view) {
  const Waiting& waiting = view.app.waiting;
  if (view.times.size() != view.app.ranks) return "the times of its ranks are not known";
  if (waiting.critical_path.empty() && waiting.critical_path_elsewhere_seconds > 0)
    return "the critical path runs through other programs";
  if (const double unknown = waiting.unresolved.critical_path_seconds; unknown > 0)
    return fmt::format("{} of the critical path is not known", human_share(view.share(unknown)));
  return "the critical path is not known";
}

// " 62 % of the time of its 8 ranks is computation, 30 % MPI, 8 % file I/O."; "": unknown.
std::string shares_in_words(const Facts& facts, double computing) {
  constexpr double kMention = 0.02;
  if (facts.rank_seconds <= 0) return "";
  const Efficiency& e = facts.efficiency;
  std::string text = fmt::format(" {} of the time of {} is {}, {} MPI, {} file I/O", human_share(computing),
                                 facts.app.ranks == 1 ? "the rank" : "its " + counted(facts.app.ranks, "rank"),
                                 e.known && !e.has_kernel_times ? "outside MPI and file I/O" : "computation",
                                 facts.mpi_share_in_words(), human_share(facts.io_share()));
  if (e.waiting_share >= kMention) text += fmt::format(", {} waiting for a processor", human_share(e.waiting_share));
  if (e.blocked_share >= kMention) text += fmt::format(", {} asleep or blocked", human_share(e.blocked_share));
  return text + ".";
}

// " 14.5 s of a rank, on average, are in MPI_Win_lock, most of it called from add (bins.c:31)."; "": no call has much.
std::string costliest_call(const Facts& facts) {
  constexpr double kMuch = 0.1;
  const auto most = std::ranges::max_element(facts.app.mpi, {}, &FunctionProfile::seconds);
  if (most == facts.app.mpi.end() || facts.share(most->seconds) < kMuch) return "";
  const std::string site = facts.main_call_site(most->function);
  return fmt::format(" {} of a rank, on average, are in {}{}.",
                     human_seconds(most->seconds / std::max(facts.app.ranks, 1u)), in_sentence(most->function),
                     site.empty() ? "" : ", most of it called from " + site);
}

// Without the path there are no ceilings, so no cause is named.
void without_path(const Facts& facts, const RunView& view, std::vector<Finding>& out) {
  if (facts.app.mpi.empty() && facts.app.posix.empty()) return;
  const Efficiency& e = facts.efficiency;
  const double computing = e.known ? e.computing_share : std::max(0.0, 1 - facts.mpi_share() - facts.io_share());
  out.push_back({"none.path",
                 Severity::note,
                 1,
                 fmt::format("Causes of lost time are not ranked: {}.{}{}", why_not_known(view),
                             shares_in_words(facts, computing), costliest_call(facts)),
                 "",
                 {{"computation_share", computing},
                  {"mpi_share", facts.mpi_share()},
                  {"io_share", facts.io_share()},
                  {"waiting_share", e.waiting_share},
                  {"blocked_share", e.blocked_share}}});
}

}  // namespace

void find_losses(const Facts& facts, std::vector<Finding>& out) {
  const RunView view(facts.app);
  if (!view.known) return without_path(facts, view, out);
  if (!view.waits_known) {
    out.push_back(
        {"none.waits",
         Severity::note,
         0,
         fmt::format("Waiting is not known in {} of the MPI calls: late ranks are not named, and the costs of "
                     "calls are estimates.",
                     human_share(view.unknown_waits)),
         "",
         {{"unknown_share", view.unknown_waits}}});
  }
  const std::size_t before = out.size();
  double all = 0;
  bool leads = false;
  std::string hot, hot_advice;
  for (const Loss& loss : losses_of(view)) {
    all += loss.ceiling;
    if (loss.code == "cpu.hot") {
      hot = loss.text;
      hot_advice = loss.advice;
    } else if (share_of(loss, view) >= kMentionedLoss && !is_uncertain(loss, view)) {
      out.push_back(finding_of(loss, view));
      out.back().severity = severity_beside_load(loss, view, out.back().severity);
      leads = leads || out.back().severity != Severity::note || loss.code == "cpu.growing";
    }
  }
  // Crowded hosts are said once, and do not head a program's own losses.
  const auto is_crowd = [](const Finding& finding) {
    return finding.id == "node.oversub" || finding.id == "node.foreign";
  };
  const std::span found = std::span(out).subspan(before);
  const bool own = std::ranges::any_of(
      found, [&](const Finding& finding) { return finding.severity != Severity::note && !is_crowd(finding); });
  for (Finding& finding : found) {
    if (own && is_crowd(finding)) finding.severity = Severity::note;
  }
  const double share = view.share(std::min(all, view.run));
  if (leads) {
    if (!hot.empty()) out.push_back({"cpu.hot", Severity::note, 0, hot + ".", "", {}});
    return;
  }
  out.push_back(
      {hot.empty() ? "none.little" : "cpu.hot",
       Severity::note,
       1,
       fmt::format("Waiting, messages and files cost at most {} of {} ({}).{}", human_seconds(share * view.run),
                   human_seconds(view.run), human_share(share), hot.empty() ? "" : " " + hot + "."),
       hot_advice,
       {{"share", share}}});
}

}  // namespace ardoise::reports
