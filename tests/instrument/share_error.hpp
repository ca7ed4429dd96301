// The tolerated difference between shares counted from samples and the known truth.
#pragma once

namespace ardoise::instrument {

// Standard errors, on either side. All comparisons of one tools/check together, not each, fail by chance in less than
// one run of a hundred (Bonferroni): they are fewer than 100 (sampler_test 24; sampling_preload_test 4 and
// kernel_time_test 7, both for each MPI, and room for more), so each may at 0.0001.
inline constexpr double kShareErrors = 3.89;

}  // namespace ardoise::instrument
