// Functions of the program and quality of sampling, from samples of call stacks. The texts say that these are
// estimates.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr double kHot = 0.10, kNearlyAll = 0.8;

// The quantity behind the shares. CPU time excludes time in which a thread waits without a processor.
std::string sampled_quantity(const SampleProfile& profile) {
  return profile.unit == "seconds" ? "CPU time" : in_sentence(profile.clock);
}

void hot_functions(const Facts& facts, std::vector<Finding>& out) {
  const SampleProfile& s = facts.app.samples;
  int found = 0;
  for (std::size_t i = 0; i < s.functions.size() && found < 2; ++i) {
    const SampledFunction& f = s.functions[i];
    const double share = f.self / s.self, error = f.self_error / s.self;
    if (!is_code(f) || f.symbol.empty() || f.symbol[0] == '(') continue;
    if (share < kHot) return;
    ++found;
    out.push_back(
        {"hot_function",
         Severity::note,
         share,
         fmt::format("{} of the {} is spent in {} (sampled, ± {}).", human_share(share), sampled_quantity(s),
                     name_and_place(s, i), human_share(std::max(error, 1e-3))),
         "",
         {{"share", share}, {"share_error", error}, {"self", f.self}, {"samples", static_cast<double>(f.samples)}}});
  }
}

// The function with most time in its MPI calls. If one call takes nearly all of it, the finding on that call is enough.
void mpi_cause(const Facts& facts, std::vector<Finding>& out) {
  const SampleProfile& s = facts.app.samples;
  struct CallsOfFunction {
    double seconds = 0;
    std::map<std::uint32_t, double> calls;
  };
  std::map<std::uint32_t, CallsOfFunction> causes;  // by calling function
  double all = 0;
  for (std::size_t i = 0; i < s.tree.parent.size(); ++i) {
    if (s.functions[s.tree.function[i]].kind != "mpi" || s.tree.parent[i] == kNoParent) continue;
    CallsOfFunction& cause = causes[s.tree.function[s.tree.parent[i]]];
    cause.seconds += s.tree.call_seconds[i];
    cause.calls[s.tree.function[i]] += s.tree.call_seconds[i];
    all += s.tree.call_seconds[i];
  }
  const auto greatest = std::max_element(
      causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.second.seconds < b.second.seconds; });
  if (greatest == causes.end() || !(all > 0)) return;
  const double share = facts.share(greatest->second.seconds);
  if (share < 0.05) return;
  const auto call = std::max_element(greatest->second.calls.begin(), greatest->second.calls.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (call->second > kNearlyAll * greatest->second.seconds) return;
  const SampledFunction& function = s.functions[greatest->first];
  const std::string file =
      function.source_file.empty() ? "" : fmt::format(" ({})", in_sentence(base_name(function.source_file)));
  out.push_back(
      {"mpi_cause",
       share > 0.25 ? Severity::medium : Severity::note,
       share,
       fmt::format("{} of the time in MPI ({} of all) is in calls made by {}, most of it in {}.",
                   human_share(greatest->second.seconds / all), human_share(share),
                   in_sentence(short_name(function)) + file, in_sentence(s.functions[call->first].symbol)),
       "",
       {{"seconds", greatest->second.seconds}, {"share", share}, {"share_of_mpi", greatest->second.seconds / all}}});
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

}  // namespace

void find_samples(const Facts& facts, std::vector<Finding>& out) {
  const SampleProfile& s = facts.app.samples;
  if (s.self > 0) hot_functions(facts, out);
  mpi_cause(facts, out);
  sampling_quality(facts, out);
}

}  // namespace ardoise::reports
