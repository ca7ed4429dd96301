#include "tools/ardoise/report/finish_report.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <sstream>

#include "analyzer/output_folder/safe_state_files.hpp"
#include "analyzer/output_folder/status_file.hpp"
#include "instrument/format/process_states.hpp"
#include "instrument/format/unsent_files.hpp"
#include "reports/model_json.hpp"
#include "reports/render.hpp"
#include "reports/text/utf8.hpp"
#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/installation.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/process.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/report/output_folder.hpp"
#include "tools/ardoise/report/report_signals.hpp"
#include "vmpi/world/window_folders.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

// The analyzer's state in its status file; "": it did not write one.
std::string analyzer_state(const fs::path& output) {
  std::string word;
  std::istringstream(analyzer::read_own_file(status_file_in(output)).value_or("")) >> word;
  return word;
}

std::string why_there_is_none(const fs::path& output, int job_status) {
  const auto state = analyzer_state(output);
  constexpr int kSignals = 128;  // a higher status is 128 + the signal that ended the process
  if (state == analyzer::kStateRunning && job_status > kSignals) {
    return "there is no report: the analyzer was ended by a signal, and mpirun then ends the whole launch. Out of "
           "memory? "
           "It takes some --memory, for each of the --analyzers.";
  }
  if (job_status != 0) return "there is no report, because the launch was ended before its programs had finished MPI.";
  if (!state.empty()) return "there is no report.";
  return fmt::format(
      "there is no report; on another machine, the analyzer may not reach '{}': name a shared folder with --output.",
      output.string());
}

reports::ReportLength length_of(bool short_report) {
  return short_report ? reports::ReportLength::brief : reports::ReportLength::full;
}

// Prints the results of a rendering. True: everything requested was made.
bool tell(const reports::RenderResult& result, bool quiet) {
  for (const auto& notice : result.notices) say("{}", notice);
  if (!result.ok()) say("{}", result.error);
  if (!result.pdf.empty() && !quiet) say("the report is '{}'.", result.pdf);
  return result.ok();
}

// Removes files that processes of the programs left.
void remove_left_files(const fs::path& output) {
  analyzer::remove_all_with(output, {instrument::kUnsentPrefix, instrument::kProcessStatePrefix});
}

// Makes the profile of a launch that was ended; an existing profile is older. Prints the merging analyzer's messages.
void make_profile(const std::vector<std::string>& merge) {
  std::cerr << reports::printable_lines(run_and_read_undisturbed(merge).output) << std::flush;
}

// Makes the profile of a launch that runs, or that ended without ardoise.
void make_profile_of_any(const fs::path& folder) {
  const std::string analyzer = find_installation().analyzer;
  const auto snapshot = run_and_read_undisturbed({analyzer, "--called-by", speaker(), "--snapshot", "--keep",
                                                  "--no-report", "--quiet", "--output", folder.string()});
  if (snapshot.status == analyzer::kNotRunning) {
    make_profile(merge_command(analyzer, folder));
    if (!has_states(folder)) (void)remove_claim(folder);
    return vmpi::remove_stale_window_folders();  // ardoise would have removed them
  }
  std::cerr << reports::printable_lines(snapshot.output) << std::flush;
}

void tell_traces(const fs::path& output) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(output, ignored)) {
    const fs::path anchor = entry.path() / "traces.otf2";
    if (entry.path().filename().string().starts_with("trace") && fs::exists(anchor, ignored))
      say("the trace is '{}'.", anchor.string());
  }
}

std::vector<std::string> with_end(std::vector<std::string> merge, int job_status, const std::string& ended_by) {
  merge.insert(merge.end(), {"--job-status", std::to_string(job_status)});
  if (!ended_by.empty()) merge.insert(merge.end(), {"--ended-by", ended_by});
  return merge;
}

// Adds the cause of the end to a profile that the analyzers wrote: the programs were signalled and finished MPI.
void add_ended_by(const fs::path& profile, const std::string& ended_by) {
  auto run = reports::read_profile_json(profile.string());
  std::string summary;
  if (!run) return say("{}", run.error);
  run.value->ended_by = ended_by;
  const auto written = reports::write_results(*run.value, profile.parent_path().string(), summary);
  if (!written) say("{}", written.error);
}

}  // namespace

bool has_states(const fs::path& output) {
  return !analyzer::safe_state_files(output, analyzer::kFirstStatePrefix).empty() ||
         !analyzer::safe_state_files(output, analyzer::kSafeStatePrefix).empty();
}

std::vector<std::string> merge_command(const std::string& analyzer, const fs::path& output) {
  return {analyzer, "--called-by", speaker(), "--merge", "--no-report", "--quiet", "--output", output.string()};
}

void finish_report(const FinishOptions& options, const fs::path& output, int job_status, const std::string& ended_by) {
  std::error_code ignored;
  const auto profile = output / "profile.json";
  if (has_states(output)) {
    make_profile(with_end(options.merge, job_status, ended_by));
  } else if (fs::exists(profile, ignored) && !ended_by.empty()) {
    add_ended_by(profile, ended_by);
  }
  if (!fs::exists(profile, ignored)) return say("{}", why_there_is_none(output, job_status));
  remove_left_files(output);
  if (!options.quiet) {
    // A file or pipe on standard output gets only the output of the programs.
    auto& terminal = ::isatty(STDOUT_FILENO) != 0 ? std::cout : std::cerr;
    if (const auto summary = analyzer::read_own_file(output / "summary.txt"))
      terminal << reports::printable_lines(*summary) << std::flush;
    tell_traces(output);
  }
  if (!options.render) {
    if (!options.quiet) say("the profile is '{}'.", profile.string());
    return;
  }
  std::string summary;
  const InterruptibleRendering rendering(std::array{SIGINT, SIGQUIT});
  tell(reports::report_again(profile.string(), {.output = output.string(), .length = length_of(options.short_report)},
                             summary),
       options.quiet);
}

std::string profile_in(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return path;
  if (has_states(path)) make_profile_of_any(path);  // accepts only states of this user
  const fs::path profile = fs::path(path) / "profile.json";
  if (fs::exists(profile, ignored) && !fs::is_regular_file(profile, ignored))  // a FIFO would block
    throw UsageError(fmt::format("'{}' is no plain file; name the file with the profile.", profile.string()));
  return profile.string();
}

int render_again(const std::string& path, const std::string& output, bool render, bool short_report, bool quiet) {
  const std::string profile = profile_in(path);
  std::string summary;
  const InterruptibleRendering rendering(std::array{SIGINT, SIGTERM, SIGHUP});
  const auto result =
      reports::report_again(profile, {.output = output, .render = render, .length = length_of(short_report)}, summary);
  if (!quiet) std::cout << summary << std::flush;
  return tell(result, quiet) ? 0 : kFailedStatus;
}

}  // namespace ardoise::launcher
