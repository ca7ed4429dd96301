// Collective operations that cost time of their own.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/findings/findings.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/losses/costly_calls.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kFewestCalls = 5;  // of a rank: fewer are seen once

// The rank that writes nearly all that is written to files, if it is about as much as is gathered there.
std::optional<std::uint32_t> writer_of_gathered(const CostlyCalls& c, const PathCall& call) {
  constexpr double kAbout = 2.5;  // bytes ÷ bytes: a gather counts once or on every rank
  const std::vector<double>& io = c.app.per_rank.io_seconds;
  if (!call.part->function.starts_with("MPI_Gather") || call.site == nullptr || io.size() < 2) return {};
  const auto most = std::ranges::max_element(io);
  double written = 0;
  for (const FunctionProfile& f : c.app.posix) written += static_cast<double>(f.bytes_sent);
  const auto gathered = static_cast<double>(call.site->bytes);
  if (!(written > 0) || gathered > kAbout * written || written > kAbout * gathered ||
      *most < kOfOneRank * std::accumulate(io.begin(), io.end(), 0.0))
    return {};
  return static_cast<std::uint32_t>(most - io.begin());
}

// Sites of the same collective with the same number of calls, with small data; the call's own among them.
std::vector<const CallSite*> same_calls(const CostlyCalls& c, const PathCall& call) {
  constexpr std::size_t kShown = 5;
  std::vector<const CallSite*> sites;
  if (call.site == nullptr) return sites;
  for (const CallSite& site : c.app.call_sites) {
    const bool alike = site.function == call.site->function && site.calls == call.site->calls &&
                       static_cast<double>(site.bytes) <= kSmall * static_cast<double>(site.calls);
    if (alike && sites.size() < kShown) sites.push_back(&site);
  }
  return sites;
}

std::string places_of(const std::vector<const CallSite*>& sites) {
  std::string places;
  for (const CallSite* site : sites) places += (places.empty() ? "" : ", ") + in_sentence(name_of(*site));
  return places;
}

// The loop that begins with one of these calls is hardly anything else, in most of its rounds. cost: s of a call.
bool have_no_work_between(const CostlyCalls& c, const std::vector<const CallSite*>& alike, double cost) {
  constexpr double kHardly = 1.5;  // time of a round ÷ cost of its calls
  for (const SnapshotSeries& loop : c.app.snapshots.series) {
    const bool begins = std::ranges::any_of(alike, [&](const CallSite* site) { return is_same_place(loop, *site); });
    if (loop.trigger != "iteration" || !begins) continue;
    const SnapshotRange inside = comparable(loop);
    const std::vector<double> rounds = round_means(loop, loop.seconds);
    return median({rounds.begin() + static_cast<std::ptrdiff_t>(inside.begin),
                   rounds.begin() + static_cast<std::ptrdiff_t>(inside.end)}) <
           kHardly * cost * static_cast<double>(alike.size());
  }
  return false;
}

// In calls of a few microseconds, ranks wait for each other by turns however even their work is.
void count_short_waits(const CostlyCalls& c, const PathCall& call) {
  constexpr double kShort = 5e-6;  // s
  if (call.site == nullptr || call.site->ranks == 0 || call.site->mean_seconds > kShort) return;
  double& ceiling = c.out.back().ceiling;
  ceiling = std::max(ceiling, call.site->seconds / call.site->ranks);
}

// MPI_Bcast: "MPI_Ibcast".
std::string non_blocking(const std::string& function) {
  constexpr std::string_view kPrefix = "MPI_";
  std::string name = function.substr(kPrefix.size());
  if (name.starts_with('I')) return function;
  name[0] = static_cast<char>(name[0] - 'A' + 'a');
  return "MPI_I" + name;
}

}  // namespace

void name_collective(const CostlyCalls& c, const PathCall& call) {
  const std::string& function = call.part->function;
  const double cost =
      call.site != nullptr && call.site->calls > 0 ? call.wait_free / static_cast<double>(call.site->calls) : 0;
  const std::string words = fmt::format("{}, of {} each without waiting", c.calls_in_words(call), human_seconds(cost));
  if (call.calls_per_rank >= kManyCalls && starts_with_any(function, {"MPI_Alltoall", "MPI_Gatherv", "MPI_Scatterv"}) &&
      call.bytes_per_call < 1)
    return c.add("ovh.toobig", call, fmt::format("All ranks take part, and hardly one has data: {}", words));
  if (const auto writer = writer_of_gathered(c, call)) {
    return c.add("io.rank0", call,
                 fmt::format("{} gathers what it writes to files: {}", capitalised(ranks_in_words(c.app, {*writer})),
                             c.calls_in_words(call)),
                 {*writer});
  }
  if (call.site != nullptr && call.site->run_bytes != 0 && call.bytes_per_call > kSmall)
    return name_pieces(c, call, *call.site);
  if (function.starts_with("MPI_Alltoall")) return c.add("ovh.alltoall", call, capitalised(words));
  if (call.calls_per_rank < kManyCalls || call.bytes_per_call > kSmall) {
    c.add("ovh.collective", call,
          fmt::format("{}: the operation itself costs {} of the run", capitalised(words), human_seconds(call.seconds)),
          {}, call.calls_per_rank < kFewestCalls);
    if (call.bytes_per_call > kSmall)
      c.out.back().advice = fmt::format(
          "Move fewer bytes: only what has changed, and only to ranks that need it; or let the operation run during "
          "work ({}).",
          non_blocking(function));
    return;
  }
  const std::vector<const CallSite*> alike = same_calls(c, call);
  if (alike.size() < 2) {
    c.add("ovh.element", call, capitalised(words));
    return count_short_waits(c, call);
  }
  if (have_no_work_between(c, alike, cost)) {
    c.add("ovh.element", call,
          fmt::format("{} places call {} again and again with hardly any work in between, {} times each: {}",
                      alike.size(), function, human_count(std::round(call.calls_per_rank)), places_of(alike)));
    c.out.back().advice =
        "Make one call for the whole array: keep the values of all elements, and reduce them together after the loop.";
    return count_short_waits(c, call);
  }
  c.add("ovh.fuse", call,
        fmt::format("{} places call {} equally often, {} times each, with {} on average: {}", alike.size(), function,
                    human_count(std::round(call.calls_per_rank)), human_bytes(call.bytes_per_call), places_of(alike)));
}

}  // namespace ardoise::reports
