// Prints how well the findings name the losses of simulated programs: diagnosis_score [CODE…]. With codes, the findings
// of these are printed whole.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/diagnosis/kinds.hpp"

int main(int argc, char** argv) {
  using namespace ardoise::diagnosis;
  const std::vector<std::string> chosen(argv + 1, argv + argc);
  int faults = 0, first = 0, in_three = 0, wrong = 0, right = 0, alarms = 0;
  fmt::print("{:<20} {:>8} {:>8}  first third remedy  first finding\n", "kind", "run s", "gain");
  for (const Kind& kind : kinds()) {
    if (!chosen.empty() && std::ranges::find(chosen, kind.code) == chosen.end()) continue;
    const Diagnosis result = diagnose(kind, {});
    const double gain = result.seconds > 0 ? 1 - result.without_fault / result.seconds : 0;
    if (kind.is_right()) {
      ++right;
      alarms += result.false_alarm;
      fmt::print("{:<20} {:8.3f} {:>8}  {:<18}  {}\n", kind.code, result.seconds, "",
                 result.false_alarm ? "false alarm" : "silent", result.findings.front().id);
    } else {
      ++faults;
      first += result.right_first;
      in_three += result.right_in_three;
      wrong += result.wrong_remedy;
      fmt::print("{:<20} {:8.3f} {:7.1f}%  {:<5} {:<5} {:<6}  {}\n", kind.code, result.seconds, 100 * gain,
                 result.right_first ? "yes" : "-", result.right_in_three ? "yes" : "-",
                 result.wrong_remedy ? "WRONG" : "", result.findings.front().id);
    }
    if (chosen.empty()) continue;
    for (const auto& finding : result.findings)
      fmt::print("    {} [{}, {:.3f}]: {}\n        {}\n", finding.id, ardoise::reports::to_string(finding.severity),
                 finding.weight, finding.text, finding.advice);
  }
  fmt::print("{} faults: right cause first {}, among three {}, wrong remedy {}; {} right programs: false alarms {}\n",
             faults, first, in_three, wrong, right, alarms);
}
