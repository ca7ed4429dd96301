// After the job: prints the summary that the analyzer wrote and renders the PDF from profile.json. The launcher does
// it, not the analyzer, because mpirun waits for its processes (the user would get the prompt back only after LaTeX),
// ends all of them at the first one that fails, and mixes their output; here the summary comes last and in one piece.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ardoise::launcher {

struct FinishOptions {
  bool render = true;
  bool short_report = false;
  bool quiet = false;
  unsigned analyzers = 1;
  // The command that makes profile.json of what analyzers left (analyzer/states/safe_state.hpp).
  std::vector<std::string> merge;
};

// What is missing of what was asked for is said. `job_status` is only for the words, `ended_by` is for the report
// (reports::Run::ended_by). SIGINT and SIGQUIT end the rendering.
void finish_report(const FinishOptions& options, const std::filesystem::path& output, int job_status,
                   const std::string& ended_by);

// The command for FinishOptions::merge.
[[nodiscard]] std::vector<std::string> merge_command(const std::string& analyzer, const std::filesystem::path& output);

// The profile.json that a user names: by its path, or by the folder of a report. Of a launch that runs, or that ended
// without ardoise, it is made now. Throws UsageError where what has its name in the folder is no plain file.
[[nodiscard]] std::string profile_in(const std::string& path);

// Analyzers of a launch that did not end have left their data there.
[[nodiscard]] bool has_states(const std::filesystem::path& output);

// `ardoise report` of a profile: writes the summary of profile_in(path) again, and renders it. SIGINT, SIGTERM and
// SIGHUP end that.
[[nodiscard]] int render_again(const std::string& path, const std::string& output, bool render, bool short_report,
                               bool quiet);

}  // namespace ardoise::launcher
