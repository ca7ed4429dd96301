// The function in which a rank spends more time than the others, from samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reports/model.hpp"

namespace ardoise::reports {

struct ExtraWork {
  std::uint32_t function = 0;  // index into SampleProfile::functions
  std::uint32_t hottest = 0;   // the function with the time of the difference: `function` or below it
  double own = 0, mean = 0;    // of the rank, and mean of the others, in SampleProfile::unit
  [[nodiscard]] double more() const { return own - mean; }
  [[nodiscard]] bool alone() const { return mean < 0.01 * own; }  // no other rank was sampled in it
};

// The program's function in which the rank spends more time than the others; nothing if the difference may be chance. A
// function that the others hardly call is preferred to the functions below it that all call.
[[nodiscard]] std::optional<ExtraWork> extra_work(const Application& application, std::uint32_t rank);

// " Only rank 2 runs expensive_boundary (solver.c:57): 1.20 s of CPU time (sampled)."; "": no such function.
[[nodiscard]] std::string extra_work_sentence(const Application& application, std::uint32_t rank);

}  // namespace ardoise::reports
