// Simulated programs with one known loss each, and right programs that look as if they had one. Codes are those of the
// catalogue of losses that the findings follow: "late.static", "io.small"; right programs are "none.…".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reports/findings/findings.hpp"
#include "tests/diagnosis/simulation.hpp"

namespace ardoise::diagnosis {

// The surroundings of the loss.
enum class Context {
  kAlone,
  kSecondFault,       // the last rank has 0.6 ms more to do in each step
  kNestedLoops,       // the usual part of a step is five rounds
  kSubCommunicators,  // reductions on the even and the odd ranks, too
  kLoaded,            // ranks wait for a processor for a tenth of their work
  kFortran,           // names of functions end in an underscore
  kTwoPrograms,       // a second one of half as many ranks takes results of each step and sends others
  kPreempted,         // ranks lose their processor in some of their calls
  kBusy,              // the same, and ranks wait for a processor for two thirds of their work, other ones each time
};

struct Case {
  std::uint32_t ranks = 8;
  std::uint32_t steps = 30;
  double noise = 0.01;
  std::uint32_t seed = 1;
  bool fault = true;  // false: the same program without the loss
  Context context = Context::kAlone;
};

struct Kind {
  std::string code;
  std::vector<std::string> findings;  // codes of which the first finding must have one: its own, and equally right ones
  std::vector<std::string> words;     // all of them in the first finding: the function, the rank
  std::function<Task(Rank&, const Case&)> body;
  std::function<void(Machine&)> machine = {};
  std::vector<std::string> with_three_ranks = {};  // codes that are equally right there
  [[nodiscard]] bool is_right() const { return code.starts_with("none."); }
};

[[nodiscard]] const std::vector<Kind>& kinds();
// Kinds that are also tried on hundreds of ranks.
[[nodiscard]] const std::vector<Kind>& kinds_on_many_ranks();
// Written after the rules: how far these carry.
[[nodiscard]] const std::vector<Kind>& held_out();

// The contexts in which the table of docs/internals/diagnosis.md counts.
struct NamedCase {
  std::string name;
  Case how;
  [[nodiscard]] const std::vector<Kind>& list() const { return how.ranks > 100 ? kinds_on_many_ranks() : kinds(); }
};
[[nodiscard]] std::vector<NamedCase> contexts();

struct Diagnosis {
  double seconds = 0;        // of the run
  double without_fault = 0;  // of the same program without the loss
  double of_context = 0;     // lost to the noise, the load or the second fault of the context
  double ceiling = 0;        // s: of the first finding with the kind's own code; 0: there is none
  std::vector<reports::Finding> findings;
  bool is_loss = false;      // it costs at least 2 % of the run in this context
  bool is_greatest = false;  // likewise, and not less than the loss of the context
  bool right_first = false, right_in_three = false;
  bool wrong_remedy = false;  // the first finding has another cause, and an advice
  bool false_alarm = false;   // a right program has a finding above a note that is not of the context
};
[[nodiscard]] Diagnosis diagnose(const Kind& kind, const Case& how);

}  // namespace ardoise::diagnosis
