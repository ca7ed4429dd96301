// The time that a user waits after the last program ended: to summary.txt and profile.json, then to report.pdf, for a
// run of two programs (64 ranks in all). With an argument N, also writes and reads the profile of one program of N
// ranks with 26 neighbours each. The last line is for tools/bench: `bench: json_seconds=… pdf_seconds=…`.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "reports/model_json.hpp"
#include "reports/render.hpp"
#include "tests/reports/synthetic_run.hpp"

namespace {

using namespace ardoise::reports;

template <class Work>
double seconds_of(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

double peak_mebibytes() {
  struct rusage use {};
  ::getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_maxrss) / 1024;
}

void large(std::uint32_t ranks, const std::string& folder) {
  testing::SyntheticOptions options;
  options.ranks = ranks;
  options.neighbours = 26;
  Run run = testing::empty_run();
  run.applications = {testing::synthetic_application("stencil", options)};
  std::string summary;
  Outcome written;
  const double write = seconds_of([&] { written = write_results(run, folder, summary); });
  if (!written) give_up(written.error);
  const std::string path = folder + "/profile.json";
  const double mebibytes = static_cast<double>(std::filesystem::file_size(path)) / 1048576;
  const double before = peak_mebibytes();
  Result<Run> back;
  const double read = seconds_of([&] { back = read_profile_json(path); });
  if (!back) give_up(back.error);
  fmt::print(
      "{} ranks, {} edges: profile.json {:.0f} MiB, written in {:.2f} s (peak {:.0f} MiB with the model), read in "
      "{:.2f} s\n",
      ranks, run.applications[0].edges.size(), mebibytes, write, before, read);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder =
      fmt::format("{}/ardoise_report_time_{}", std::filesystem::temp_directory_path().string(), ::getpid());
  const Run run = testing::synthetic_run(64);
  std::string summary;
  Outcome written;
  const double json = seconds_of([&] { written = write_results(run, folder, summary); });
  if (!written) give_up(written.error);
  RenderOptions options;
  options.output = folder;
  RenderResult result;
  const double pdf = seconds_of([&] { result = render_report(run, options); });
  if (argc > 1) large(static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10)), folder);
  std::filesystem::remove_all(folder);
  if (!result.ok()) give_up(result.error);
  if (result.pdf.empty()) give_up("No PDF was made: LaTeX is not installed.");
  fmt::print("64 ranks, two programs: summary and JSON {:.3f} s (goal 1 s), PDF {:.2f} s (goal 10 s)\n", json, pdf);
  fmt::print("bench: json_seconds={:.4f} pdf_seconds={:.3f}\n", json, json + pdf);
}
