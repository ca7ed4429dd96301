// See finish_report.hpp.
#include "tools/ardoise/finish_report.hpp"

#include <fstream>
#include <iostream>
#include <optional>

#include "reports/render.hpp"
#include "tools/ardoise/measure.hpp"
#include "tools/ardoise/message.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

std::optional<int> take_status(const fs::path& output) {
  int status = 0;
  std::error_code ignored;
  const auto path = status_file_in(output);
  if (std::ifstream file(path); !(file >> status)) return std::nullopt;
  fs::remove(path, ignored);
  return status;
}

// Says what came out of a rendering. True: everything that was asked for.
bool tell(const reports::RenderResult& result, bool quiet) {
  for (const auto& notice : result.notices) say("{}", notice);
  if (!result.ok()) say("{}", result.error);
  if (!result.pdf.empty() && !quiet) say("the report is '{}'.", result.pdf);
  return result.ok();
}

}  // namespace

fs::path status_file_in(const fs::path& output) { return output / ".analyzer-status"; }

void finish_report(const FinishOptions& options, const fs::path& output, int job_status) {
  const auto status = take_status(output);
  std::error_code ignored;
  const auto profile = output / "profile.json";
  if (!fs::exists(profile, ignored)) {
    if (job_status != 0) {
      say("there is no report, because the programs did not end as they should.");
    } else if (!status) {
      say("there is no report; on another machine, the analyzer may not reach '{}': name a shared folder with "
          "--output.",
          output.string());
    } else {
      say("there is no report.");
    }
    return;
  }
  if (!options.quiet) {
    if (std::ifstream summary(output / "summary.txt"); summary) std::cout << summary.rdbuf() << std::flush;
  }
  if (!options.render) {
    if (!options.quiet) say("the profile is '{}'.", profile.string());
    return;
  }
  std::string summary;
  tell(reports::report_again(profile.string(), {.output = output.string()}, summary), options.quiet);
}

int render_again(const std::string& profile, const std::string& output, bool quiet) {
  std::string summary;
  const auto result = reports::report_again(profile, {.output = output}, summary);
  if (!quiet) std::cout << summary << std::flush;
  return tell(result, quiet) ? 0 : kFailedStatus;
}

}  // namespace ardoise::launcher
