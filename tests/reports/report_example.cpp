// Renders a synthetic run, or a profile, to look at: report_example RANKS|empty|nasty|dense|profile.json OUTPUT
// [--no-pdf]
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "reports/render.hpp"
#include "tests/reports/synthetic_run.hpp"

int main(int argc, char** argv) {
  using namespace ardoise::reports;
  if (argc < 3) return fmt::print(stderr, "usage: report_example RANKS|empty|nasty|dense OUTPUT [--no-pdf]\n"), 2;
  const std::string kind = argv[1];
  Run run;
  if (kind.ends_with(".json")) {
    std::string summary;
    RenderOptions again;
    again.output = argv[2];
    const RenderResult result = report_again(kind, again, summary);
    fmt::print("{}{}{}\n", summary, result.error, result.pdf);
    return result.ok() ? 0 : 1;
  }
  if (kind == "empty") {
    run = testing::empty_run();
  } else if (kind == "nasty") {
    run = testing::nasty_run();
  } else if (kind == "dense") {
    run = testing::synthetic_run(1);
    testing::SyntheticOptions options;
    options.ranks = options.neighbours = 1024;
    run.applications = {testing::synthetic_application("alltoall", options)};
  } else {
    run = testing::synthetic_run(static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10)));
  }
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::string summary;
  const Outcome written = write_results(run, argv[2], summary);
  fmt::print("{}\n{}json and summary after {:.3f} s\n", summary, written.error, seconds());
  if (argc > 3) return 0;
  RenderOptions options;
  options.output = argv[2];
  const RenderResult result = render_report(run, options);
  for (const std::string& notice : result.notices) fmt::print("{}\n", notice);
  fmt::print("{}{}\nafter {:.3f} s\n", result.error, result.pdf, seconds());
  return result.ok() ? 0 : 1;
}
