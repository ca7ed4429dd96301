// Ends a job: prints the summary that the analyzer wrote and renders the PDF from profile.json. This is done in the
// launcher: mpirun waits for its processes (the prompt would be back only after LaTeX), ends all of them when one
// fails, and mixes their output. Here the summary is printed last and in one piece.
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
  // The command that makes profile.json from the files that analyzers left (analyzer/states/safe_state.hpp).
  std::vector<std::string> merge;
};

// Prints a message for each requested result that is missing. `job_status` is only for these messages; `ended_by` goes
// into the report (reports::Run::ended_by). SIGINT and SIGQUIT end the rendering.
void finish_report(const FinishOptions& options, const std::filesystem::path& output, int job_status,
                   const std::string& ended_by);

// The command for FinishOptions::merge.
[[nodiscard]] std::vector<std::string> merge_command(const std::string& analyzer, const std::filesystem::path& output);

// The profile.json that a user names by its path or by the folder of a report. For a launch that runs, or that ended
// without ardoise, it is made now. Throws UsageError if the file in the folder is not a regular file.
[[nodiscard]] std::string profile_in(const std::string& path);

// True: analyzers of a launch that did not end properly left their data in the folder.
[[nodiscard]] bool has_states(const std::filesystem::path& output);

// `ardoise report` for a profile: writes the summary of profile_in(path) again and renders it. SIGINT, SIGTERM and
// SIGHUP end the rendering.
[[nodiscard]] int render_again(const std::string& path, const std::string& output, bool render, bool short_report,
                               bool quiet);

}  // namespace ardoise::launcher
