// After the job: prints the summary that the analyzer wrote and renders the PDF from profile.json. The launcher does
// it, not the analyzer, because mpirun waits for its processes (the user would get the prompt back only after LaTeX),
// ends all of them at the first one that fails, and mixes their output; here the summary comes last and in one piece.
#pragma once

#include "tools/ardoise/measure.hpp"
#include "tools/ardoise/output_folder.hpp"

namespace ardoise::launcher {

// Returns 0, or kNoReportStatus when something that was asked for is missing. `job_status` is only for the words.
[[nodiscard]] int finish_report(const Options& options, const OutputFolder& output, int job_status);

}  // namespace ardoise::launcher
