// Checks that the numbers of a model fit together. Renderers index arrays by rank, bin and cell without range checks.
// Used by model_json.cpp after reading, and by tests on results of plug-ins.
#pragma once

#include "reports/model.hpp"
#include "reports/result.hpp"

namespace ardoise::reports {

// The error names the place and the broken rule, without a file name. O(size of the model).
// On success: every application has 1 … kMaxRanks ranks; arrays over ranks have `ranks` cells or none, and arrays that
// belong together have equal lengths; edges, hosts and cells are in range; shares are 0 … 1 and the temporal map has
// classes x groups x bins of them; numbers are finite and not negative; there are at most 65 size buckets.
[[nodiscard]] Outcome check_model(const Run& run);

inline constexpr std::uint32_t kMaxRanks = 1U << 26;

}  // namespace ardoise::reports
