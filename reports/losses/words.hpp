// Parts of sentences that all rules use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/losses/run_view.hpp"

namespace ardoise::reports {

// "rank 2", "ranks 0–3 and 7 (5 of 8)", "all 8 ranks"; numbers are those of the world.
[[nodiscard]] std::string ranks_in_words(const Application& application, std::vector<std::uint32_t> ranks);

// "boundary_cells (heat.c:44)"
[[nodiscard]] std::string name_of_work(const Application& application, const PathWork& work);

// " in update_table (heat.c:17)", if most looks at these sleeping ranks found them there; "": not known.
[[nodiscard]] std::string place_of_sleep(const Application& application, const std::vector<std::uint32_t>& ranks);

// "MPI_Allreduce, called from residual (heat.c:31)"; without a known caller the function alone.
[[nodiscard]] std::string name_of_call(const Application& application, const PathCall& call);
[[nodiscard]] std::string name_of_site(const WaitSite& site);

// The call site with most waiting; nullptr: none.
[[nodiscard]] const WaitSite* main_wait(const Application& application);
// "; the others wait for it in MPI_Allreduce, called from residual (heat.c:31)"; "": no waiting.
[[nodiscard]] std::string where_others_wait(const Application& application, bool one_rank);

}  // namespace ardoise::reports
