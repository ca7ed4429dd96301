// Short calls that only use the process's own memory are not on the path one by one: samples tell their time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "reports/findings/findings.hpp"
#include "reports/losses/costly_calls.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

void name_local_calls(const CostlyCalls& c) {
  constexpr double kVeryMany = 10'000;  // of a rank
  static constexpr auto kLocal =
      std::to_array<std::string_view>({"datatype", "status", "group", "attribute", "management"});
  for (const SampledFunction& f : c.app.samples.functions) {
    const auto profile = std::ranges::find(c.app.mpi, f.symbol, &FunctionProfile::function);
    const double seconds = f.total / c.app.ranks;  // with the copies below it
    if (profile == c.app.mpi.end() || c.view.share(seconds) < kMentionedLoss) continue;
    const bool is_local = std::ranges::count(kLocal, profile->category) != 0;
    const double calls = static_cast<double>(profile->calls) / c.app.ranks;
    const bool on_path = std::ranges::any_of(c.view.calls, [&](const PathCall& call) {
      return call.part->function == f.symbol && c.view.share(call.seconds) >= kMeaningful;
    });
    if (!is_local || on_path || calls < kVeryMany) continue;
    const CallSite* site = nullptr;
    for (const CallSite& each : c.app.call_sites) {
      if (each.function == f.symbol && (site == nullptr || each.calls > site->calls)) site = &each;
    }
    c.out.push_back({.code = "ovh.calls",
                     .ceiling = seconds,
                     .text = fmt::format("{} of a rank to {}{} take {} of CPU time (sampled)",
                                         human_counted(calls, "call"), in_sentence(f.symbol),
                                         site == nullptr ? "" : ", called from " + in_sentence(name_of(*site)) + ",",
                                         human_seconds(seconds))});
    if (f.symbol.starts_with("MPI_Pack") || f.symbol.starts_with("MPI_Unpack"))
      c.out.back().advice =
          "Pack many values with one call (its count), or send from a buffer of your own, or a derived data type.";
  }
}

}  // namespace ardoise::reports
