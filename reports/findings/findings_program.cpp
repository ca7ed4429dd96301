// The program's own code, from samples: compiler optimization.
#include <fmt/format.h>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr double kSamples = 100;  // fewer are not judged
constexpr double kLeastMentioned = 0.1, kMuch = 0.25;

// A share of CPU time as a share of the ranks' time.
double weight_of(const Facts& facts, double share_of_cpu) {
  return share_of_cpu * (facts.efficiency.known ? facts.efficiency.computing_share : 1);
}

void not_optimised(const Facts& facts, std::vector<Finding>& out) {
  const SampleProfile& s = facts.app.samples;
  double sum = 0;
  std::size_t most = s.functions.size();
  for (std::size_t i = 0; i < s.functions.size(); ++i) {
    if (s.functions[i].optimization != "-O0") continue;
    sum += s.functions[i].self;
    if (most == s.functions.size()) most = i;  // they are sorted
  }
  const double share = sum / s.self;
  if (share < kLeastMentioned) return;
  out.push_back(
      {"not_optimized",
       weight_of(facts, share) > kMuch ? Severity::high : Severity::medium,
       weight_of(facts, share),
       fmt::format("{} of the CPU time is in code that was compiled without optimization (-O0), most of it in "
                   "{} (sampled).",
                   human_share(share), name_and_place(s, most)),
       "Compile it with -O2 or -O3, which often makes it several times as fast.",
       {{"share", share}}});
}

}  // namespace

void find_program(const Facts& facts, std::vector<Finding>& out) {
  const SampleProfile& s = facts.app.samples;
  if (s.unit != "seconds" || !(s.self > 0) || static_cast<double>(s.samples) < kSamples) return;
  not_optimised(facts, out);
}

}  // namespace ardoise::reports
