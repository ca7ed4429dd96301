// See finish_report.hpp.
#include "tools/ardoise/finish_report.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

namespace ardoise::launcher {

int finish_report(const Options& options, const OutputFolder& output, int job_status) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::cout.flush();
  const auto profile = output.path / "profile.json";
  if (!fs::exists(profile, ignored)) {
    std::cerr << "ardoise: there is no report"
              << (job_status == 0 ? "." : ", because the programs did not end as they should.") << std::endl;
    return kNoReportStatus;
  }
  if (!options.quiet) {
    if (std::ifstream summary(output.path / "summary.txt"); summary) std::cout << summary.rdbuf() << std::flush;
    std::cerr << "ardoise: the report is in '" << output.path.string() << "'." << std::endl;
  }
  return 0;
}

}  // namespace ardoise::launcher
