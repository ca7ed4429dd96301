// Prints how well the findings name the losses of simulated programs.
//   diagnosis_score           a line for each kind, alone
//   diagnosis_score all       a line for each context: all kinds in it
//   diagnosis_score held-out  programs that were written after the rules
//   diagnosis_score in NAME   all kinds, or CODE…, in that context
//   diagnosis_score CODE…     these kinds, with their findings whole
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "tests/diagnosis/kinds.hpp"

namespace {

using namespace ardoise::diagnosis;

// Error of the ceiling against the same program without the loss, as a share of the run time.
double error_of_ceiling(const Diagnosis& result) {
  return (result.ceiling - (result.seconds - result.without_fault)) / result.seconds;
}

struct Score {
  int greatest = 0, first = 0, faults = 0, in_three = 0, wrong = 0, right = 0, alarms = 0, ceilings = 0;
  void add(const Kind& kind, const Diagnosis& result) {
    greatest += result.is_greatest;
    first += result.is_greatest && result.right_first;
    faults += result.is_loss;
    in_three += result.is_loss && result.right_in_three;
    wrong += result.wrong_remedy;
    ceilings += result.ceiling > 0 && std::abs(error_of_ceiling(result)) <= 0.1;
    right += kind.is_right();
    alarms += result.false_alarm;
  }
  void print(std::string_view name) const {
    fmt::print("{:<28} {:>4} of {:<4} {:>4} of {:<4} {:>9} {:>6} of {} {:>9}\n", name, first, greatest, in_three,
               faults, wrong, alarms, right, ceilings);
  }
};

void print_line(const Kind& kind, const Diagnosis& result) {
  const double gain = result.seconds > 0 ? 100 * (1 - result.without_fault / result.seconds) : 0;
  const std::string_view verdict = !kind.is_right() && !result.is_loss ? "no loss"
                                   : kind.is_right()                   ? (result.false_alarm ? "false alarm" : "silent")
                                   : result.right_first                ? "first"
                                   : result.right_in_three ? (result.is_greatest ? "among three" : "after greater")
                                   : result.wrong_remedy   ? "wrong remedy"
                                                           : "-";
  fmt::print("{:<20} {:8.3f} s {:6.1f} % {:>6} {:<13} {}\n", kind.code, result.seconds, gain,
             result.ceiling > 0 ? fmt::format("{:+.0f} %", 100 * error_of_ceiling(result)) : "", verdict,
             result.findings.front().id);
}

void print_findings(const Diagnosis& result) {
  for (const auto& finding : result.findings)
    fmt::print("    {} ({}, {:.3f}): {}\n        {}\n", finding.id, ardoise::reports::to_string(finding.severity),
               finding.weight, finding.text, finding.advice);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  fmt::print(
      "right cause: first, among three; wrong remedy; right programs with a false alarm; ceilings within 10 % of "
      "the run\n");
  if (words == std::vector<std::string>{"all"}) {
    for (const NamedCase& context : contexts()) {
      Score score;
      for (const Kind& kind : context.list()) score.add(kind, diagnose(kind, context.how));
      score.print(context.name);
    }
    return 0;
  }
  NamedCase context = contexts().front();
  const bool is_held_out = !words.empty() && words[0] == "held-out";
  if (is_held_out) words.erase(words.begin());
  if (words.size() >= 2 && words[0] == "in") {
    for (const NamedCase& each : contexts()) {
      if (each.name == words[1]) context = each;
    }
    words.erase(words.begin(), words.begin() + 2);
  }
  Score score;
  for (const Kind& kind : is_held_out ? held_out() : context.list()) {
    if (!words.empty() && std::ranges::find(words, kind.code) == words.end()) continue;
    const Diagnosis result = diagnose(kind, context.how);
    score.add(kind, result);
    print_line(kind, result);
    if (!words.empty()) print_findings(result);
  }
  score.print(context.name);
}
