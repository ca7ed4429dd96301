// The activity of the rank that others wait for.
#pragma once

#include <string>

#include "reports/model.hpp"

namespace ardoise::reports {

// " 93 % of all waiting in MPI is for rank 2. Outside MPI it computes for 2.10 s, the others 0.40 s on average.
// Only rank 2 runs boundary (solver.c:57): 1.60 s of CPU time (sampled)."; "": no single rank stands out.
[[nodiscard]] std::string awaited_rank_in_words(const Application& application);

// "Ranks 1–3 wait 310 ms of 1.17 s in MPI_Allreduce called from main (solver.c:91), 98 % of it for rank 0, which is
// still in relax (solver.c:42), 280 ± 50 ms longer than the waiting ranks (sampled). Without this delay the run could
// be up to 105 ms shorter."; the awaited rank is omitted if most waiting is not for a single rank.
[[nodiscard]] std::string waiting_in_words(const Application& application, const WaitSite& site);

}  // namespace ardoise::reports
