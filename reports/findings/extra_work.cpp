#include "reports/findings/extra_work.hpp"

#include <fmt/format.h>

#include <cmath>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {
constexpr double kLeastSamples = 20;   // difference, in samples
constexpr double kRankDeviations = 4;  // of the rank's samples
constexpr double kLeastRankShare = 0.05;  // of all samples of the rank
constexpr double kFromOneCaller = 0.9, kMostOfExtraWork = 0.8, kClearly = 1.1;

// ", called by step": the caller with nearly all of it; "": several callers.
std::string caller(const SampleProfile& s, std::uint32_t function) {
  const auto callers = callers_of(s, node_totals(s.tree, s.tree.self), function);
  double all = 0;
  for (const CallShare& share : callers) all += share.total;
  if (callers.empty() || callers[0].function == kNoParent || callers[0].total < kFromOneCaller * all) return "";
  return ", called by " + in_sentence(short_name(s.functions[callers[0].function]));
}

}  // namespace

namespace {

bool is_chance(const SampleProfile& s, const ExtraWork& work, std::uint32_t rank) {
  const double weight = s.self / static_cast<double>(s.samples);  // of one sample, on average
  return work.more() < kLeastRankShare * s.per_rank.all[rank] || work.more() < kLeastSamples * weight ||
         work.more() < kRankDeviations * std::sqrt(work.own * weight);
}

// Compares `rank` with the others in row i of a matrix over ranks.
ExtraWork compared(std::uint32_t function, const std::vector<double>& values, std::size_t i, std::size_t ranks,
                   std::uint32_t rank) {
  ExtraWork work{.function = function, .hottest = function};
  for (std::size_t r = 0; r < ranks; ++r) work.mean += values[i * ranks + r];
  work.own = values[i * ranks + rank];
  work.mean = (work.mean - work.own) / static_cast<double>(ranks - 1);
  return work;
}

bool is_named_code(const SampledFunction& f) { return is_code(f) && !f.symbol.empty() && f.symbol[0] != '('; }

}  // namespace

std::optional<ExtraWork> extra_work(const Application& a, std::uint32_t rank) {
  const SampleProfile& s = a.samples;
  const std::size_t ranks = s.per_rank.all.size();
  if (ranks < 2 || rank >= ranks || s.samples == 0) return {};
  std::optional<ExtraWork> itself;
  for (std::size_t i = 0; i < s.per_rank.functions.size(); ++i) {
    const ExtraWork work = compared(s.per_rank.functions[i], s.per_rank.self, i, ranks, rank);
    if (!is_code(s.functions[work.function]) || s.functions[work.function].symbol.starts_with('(') ||
        is_chance(s, work, rank))
      continue;
    if (!itself || work.more() > itself->more()) itself = work;
  }
  if (!itself) return {};
  // A caller whose time exceeds that of the others by as large a part as its callee's replaces the callee.
  ExtraWork best = *itself;
  for (std::size_t i = 0; i < s.per_rank.uneven.size(); ++i) {
    ExtraWork work = compared(s.per_rank.uneven[i], s.per_rank.total, i, ranks, rank);
    work.hottest = itself->function;
    if (!is_named_code(s.functions[work.function]) || work.more() < kMostOfExtraWork * itself->more() ||
        is_chance(s, work, rank))
      continue;
    const double part = work.more() / work.own, of_best = best.more() / best.own;
    const bool outer = best.function != itself->function && part > 0.98 * of_best && work.own > best.own;
    if (part > kClearly * of_best || outer) best = work;
  }
  return best;
}

std::string extra_work_sentence(const Application& a, std::uint32_t rank) {
  const auto work = extra_work(a, rank);
  if (!work) return "";
  const bool seconds = a.samples.unit == "seconds";
  const auto amount = [&](double self) {
    return seconds ? human_seconds(self) : fmt::format("{} {}", human_count(self), in_sentence(a.samples.clock));
  };
  const std::string hottest = work->hottest == work->function
                                  ? ""
                                  : ", most of it in " + in_sentence(short_name(a.samples.functions[work->hottest]));
  const std::string name = name_and_place(a.samples, work->function), cpu = seconds ? " of CPU time" : "";
  if (work->alone()) {
    return fmt::format(" Only rank {} runs {}{}: {}{}{} (sampled).", a.world_rank(rank), name,
                       caller(a.samples, work->function), amount(work->own), cpu, hottest);
  }
  return fmt::format(" Rank {} spends {}{} in {}{}, the others {} on average (sampled).", a.world_rank(rank),
                     amount(work->own), cpu, name, hottest, amount(work->mean));
}

}  // namespace ardoise::reports
