// What a rank does more than the others, from samples: the function that makes the difference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reports/model.hpp"

namespace ardoise::reports {

struct ExtraWork {
  std::uint32_t function = 0;  // index into SampleProfile::functions
  std::uint32_t hottest = 0;   // the one in which the difference shows: itself, or beneath it
  double own = 0, mean = 0;    // of the rank, and of the others, in SampleProfile::unit
  [[nodiscard]] double more() const { return own - mean; }
  [[nodiscard]] bool alone() const { return mean < 0.01 * own; }  // no other rank was seen in it
};

// The function of the program itself in which the rank is most; nothing where that may be chance. What the rank calls
// and the others hardly do stands for the functions that all of them call beneath it.
[[nodiscard]] std::optional<ExtraWork> extra_work(const Application& application, std::uint32_t rank);

// " Only rank 2 runs expensive_boundary (solver.c:57): 1.20 s of CPU time (sampled)."; "" where nothing is known.
[[nodiscard]] std::string extra_work_sentence(const Application& application, std::uint32_t rank);

}  // namespace ardoise::reports
