// What the rank does that most waiting is for, instead of coming.
#pragma once

#include <string>

#include "reports/model.hpp"

namespace ardoise::reports {

// " Of all waiting in MPI 93 % is for rank 2. Outside MPI it computes for 2.10 s, the others 0.40 s on the average.
// Only rank 2 runs boundary (solver.c:57): 1.60 s of CPU time (sampled)."; "" where no single rank stands out.
[[nodiscard]] std::string awaited_rank_in_words(const Application& application);

}  // namespace ardoise::reports
