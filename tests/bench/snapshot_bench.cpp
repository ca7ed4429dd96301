// The time during which an analyzer takes no packs when a snapshot is requested: its workers finish their current jobs,
// and its process is copied. By the size of its data: programs of 1,000 and 10,000 ranks with 26 neighbours each, while
// packs arrive as fast as it takes them.
//
// The limit is a bare fork() of the same process.
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <vector>

#include "analyzer/run/analyzer_run.hpp"
#include "analyzer/states/safe_keeper.hpp"
#include "analyzer/states/safe_state.hpp"
#include "replay/plugins.hpp"
#include "replay/synthetic.hpp"

namespace {

using namespace ardoise;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

void no_release(void*, std::span<std::byte>) noexcept {}

double bare_fork() {
  const auto begin = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  const double took = milliseconds_since(begin);
  ::waitpid(child, nullptr, 0);
  return took;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Result {
  double stop_milliseconds = 0, fork_milliseconds = 0;  // medians
};
Result measure(std::uint32_t ranks) {
  const replay::SyntheticProgram program{.ranks = ranks, .steps = 2};
  const std::vector<knowledge_sources::Program> programs{{.partition = 0, .name = "solver", .ranks = ranks}};
  std::vector<replay::Pack> packs;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (auto& pack : replay::synthetic_packs(program, rank)) packs.push_back(std::move(pack));
  }
  analyzer::AnalyzerRun run({.workers = 2, .memory_bytes = std::size_t{64} << 20, .analyses = replay::load_plugins()});
  run.add_program(programs[0]);
  analyzer::Options options;
  options.output = (std::filesystem::temp_directory_path() / fmt::format("snapshot_bench-{}", ::getpid())).string();
  std::filesystem::create_directories(options.output);
  analyzer::SafeKeeper keeper;
  std::vector<double> stops, forks, states;
  for (std::size_t next = 0; stops.size() < 25;) {
    // Packs that arrive a second time are counted again; only the work matters here.
    for (std::size_t i = 0; i < packs.size() / 25 + 1; ++i, next = (next + 1) % packs.size()) {
      while (!run.wait_for_room(std::chrono::milliseconds(1))) continue;
      run.submit(analyzer::SourcedPack{packs[next].writable(), no_release, nullptr});
    }
    const auto begin = Clock::now();
    if (!keeper.keep(run, [&] { analyzer::write_safe_state(run, {programs, {}, {}, {}}, 0, options); })) return {};
    stops.push_back(milliseconds_since(begin));
    keeper.wait();
    states.push_back(milliseconds_since(begin));
    run.drain();
    forks.push_back(bare_fork());
  }
  const auto bytes =
      std::filesystem::file_size(analyzer::safe_state_file(options.output, analyzer::kSafeStatePrefix, 0));
  fmt::print(
      "{:>7} ranks: stopped for {:.2f} ms (median of 25; longest {:.2f}); a bare fork {:.2f} ms; {:.1f} MiB of state "
      "written after {:.0f} ms\n",
      ranks, median(stops), *std::ranges::max_element(stops), median(forks), static_cast<double>(bytes) / (1 << 20),
      median(states));
  std::filesystem::remove_all(options.output);
  return {median(stops), median(forks)};
}

}  // namespace

int main() {
  Result result;
  for (const std::uint32_t ranks : {64u, 1000u, 10'000u}) result = measure(ranks);
  fmt::print("bench: snapshot_stop_ms={:.1f} snapshot_stop_ratio={:.2f}\n", result.stop_milliseconds,
             result.stop_milliseconds / result.fork_milliseconds);
}
