// Losses as findings: the greatest one that can be won back leads. docs/internals/diagnosis.md says how well they name
// causes.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reports/findings/findings.hpp"
#include "reports/losses/losses.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

Severity severity_of(double share) {
  return share >= kHighLoss ? Severity::high : share >= kMediumLoss ? Severity::medium : Severity::note;
}

// Bytes that must be moved take time, without a fault.
bool is_volume(const Loss& loss) {
  return loss.code == "io.volume" || loss.code == "io.checkpoint" || loss.code == "ovh.volume";
}

Finding finding_of(const Loss& loss, const RunView& view) {
  const double share = view.share(loss.ceiling);
  Finding finding{loss.code,
                  loss.is_usual || (is_volume(loss) && share < kHighLoss) ? Severity::note : severity_of(share),
                  share,
                  fmt::format("{}. At most {} of {} ({}) can be won back.", loss.text, human_seconds(loss.ceiling),
                              human_seconds(view.run), human_share(share)),
                  loss.advice,
                  loss.evidence};
  if (const LossCode* const code = find_loss_code(loss.code); code != nullptr && finding.advice.empty())
    finding.advice = code->remedy;
  finding.evidence.emplace_back("ceiling_seconds", loss.ceiling);
  finding.evidence.emplace_back("share", share);
  return finding;
}

// Ranks without a processor make calls longer and ranks late: what they lose so may be more than this loss.
bool is_uncertain(const Loss& loss, const RunView& view) {
  constexpr double kOfTheCrowd = 0.5;
  const bool by_duration = loss.bucket != Bucket::work || loss.code == "late.noise" || loss.code == "late.moving" ||
                           loss.code == "thr.uneven";
  return by_duration && loss.bucket != Bucket::processor && loss.ceiling < kOfTheCrowd * view.path.processor;
}

}  // namespace

bool find_losses(const Facts& facts, std::vector<Finding>& out) {
  const RunView view(facts.app);
  if (!view.known) return false;
  double all = 0;
  bool leads = false;
  std::string hot;
  for (const Loss& loss : losses_of(view)) {
    all += loss.ceiling;
    if (loss.code == "cpu.hot") {
      hot = loss.text;
    } else if (view.share(loss.ceiling) >= kMentionedLoss) {
      out.push_back(finding_of(loss, view));
      if (is_uncertain(loss, view))
        out.back().severity =
            std::min(out.back().severity, view.share(loss.ceiling) >= kHighLoss ? Severity::medium : Severity::note);
      leads = leads || out.back().severity != Severity::note;
    }
  }
  // Crowded hosts are said once, and do not head a program's own losses.
  const auto is_crowd = [](const Finding& finding) {
    return finding.id == "node.oversub" || finding.id == "node.foreign";
  };
  const bool own = std::ranges::any_of(
      out, [&](const Finding& finding) { return finding.severity != Severity::note && !is_crowd(finding); });
  for (Finding& finding : out) {
    if (own && is_crowd(finding)) finding.severity = Severity::note;
  }
  const double share = view.share(std::min(all, view.run));
  if (leads) {
    if (!hot.empty()) out.push_back({"cpu.hot", Severity::note, 0, hot + ".", "", {}});
    return true;
  }
  out.push_back(
      {hot.empty() ? "none.little" : "cpu.hot",
       Severity::note,
       1,
       fmt::format("Waiting, messages and files cost at most {} of {} ({}).{}", human_seconds(share * view.run),
                   human_seconds(view.run), human_share(share), hot.empty() ? "" : " " + hot + "."),
       hot.empty()
           ? ""
           : "Time is to be gained in that function: less work, vector instructions (-O3 -march=native), data in "
             "the order of its use.",
       {{"share", share}}});
  return true;
}

}  // namespace ardoise::reports
