// After the job: prints the summary that the analyzer wrote and renders the PDF from profile.json. The launcher does
// it, not the analyzer, because mpirun waits for its processes (the user would get the prompt back only after LaTeX),
// ends all of them at the first one that fails, and mixes their output; here the summary comes last and in one piece.
#pragma once

#include <filesystem>
#include <string>

namespace ardoise::launcher {

struct FinishOptions {
  bool render = true;
  bool short_report = false;
  bool quiet = false;
};

// What is missing of what was asked for is said. `job_status` is only for the words.
void finish_report(const FinishOptions& options, const std::filesystem::path& output, int job_status);

// `ardoise report`: renders again from the data.
[[nodiscard]] int render_again(const std::string& profile, const std::string& output, bool short_report, bool quiet);

}  // namespace ardoise::launcher
