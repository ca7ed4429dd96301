// See extra_work.hpp.
#include "reports/findings/extra_work.hpp"

#include <fmt/format.h>

#include <cmath>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {
constexpr double kLeastSamples = 20;  // of difference
constexpr double kDeviations = 4;     // of the rank's samples
constexpr double kLeastShare = 0.05;  // of all that the rank was sampled in
constexpr double kNearlyAll = 0.9;

// ", called by step": the function that nearly all of it comes from.
std::string caller(const SampleProfile& s, std::uint32_t function) {
  const auto callers = callers_of(s, node_totals(s.tree, s.tree.self), function);
  double all = 0;
  for (const CallShare& share : callers) all += share.total;
  if (callers.empty() || callers[0].function == kNoParent || callers[0].total < kNearlyAll * all) return "";
  return ", called by " + in_sentence(short_name(s.functions[callers[0].function]));
}

}  // namespace

std::optional<ExtraWork> extra_work(const Application& a, std::uint32_t rank) {
  const SampleProfile& s = a.samples;
  const std::size_t ranks = s.per_rank.all.size();
  if (ranks < 2 || rank >= ranks || s.samples == 0) return {};
  const double weight = s.self / static_cast<double>(s.samples);  // of one sample, on the average
  std::optional<ExtraWork> most;
  for (std::size_t i = 0; i < s.per_rank.functions.size(); ++i) {
    ExtraWork work{.function = s.per_rank.functions[i]};
    if (!is_code(s.functions[work.function]) || s.functions[work.function].symbol.starts_with('(')) continue;
    for (std::size_t r = 0; r < ranks; ++r) work.mean += s.per_rank.self[i * ranks + r];
    work.self = s.per_rank.self[i * ranks + rank];
    work.mean = (work.mean - work.self) / static_cast<double>(ranks - 1);
    const double more = work.self - work.mean;
    if (more < kLeastShare * s.per_rank.all[rank] || more < kLeastSamples * weight ||
        more < kDeviations * std::sqrt(work.self * weight))
      continue;
    if (!most || more > most->self - most->mean) most = work;
  }
  return most;
}

std::string extra_work_sentence(const Application& a, std::uint32_t rank) {
  const auto work = extra_work(a, rank);
  if (!work) return "";
  const bool seconds = a.samples.unit == "seconds";
  const auto amount = [&](double self) {
    return seconds ? human_seconds(self) : fmt::format("{} {}", human_count(self), in_sentence(a.samples.clock));
  };
  const std::string name = name_and_place(a.samples, work->function), cpu = seconds ? " of CPU time" : "";
  if (work->alone()) {
    return fmt::format(" Only rank {} runs {}{}: {}{} (sampled).", a.world_rank(rank), name,
                       caller(a.samples, work->function), amount(work->self), cpu);
  }
  return fmt::format(" Rank {} spends {}{} in {}, the others {} on the average (sampled).", a.world_rank(rank),
                     amount(work->self), cpu, name, amount(work->mean));
}

}  // namespace ardoise::reports
