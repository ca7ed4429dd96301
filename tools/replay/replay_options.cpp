#include "tools/replay/replay_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <vector>

#include "instrument/settings/number_ranges.hpp"

namespace ardoise::replay {
namespace {

constexpr std::uint32_t kMostRank = 10'000'000;

void take_slowed(ReplayOptions& options, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    std::istringstream in(word);
    std::int32_t rank = 0;
    double factor = 0;
    char equals = 0;
    if (!(in >> rank >> equals >> factor) || equals != '=' || !in.eof() || rank < 0 || factor < 0)
      throw CLI::ValidationError("--slow", fmt::format("'{}' is not RANK=FACTOR, such as 3=1.5", word));
    options.slowed[rank] = factor;
  }
}

// "0-3,8"
void take_ranks(ReplayOptions& options, const std::string& text) {
  const bool is_good = instrument::for_each_range(text, [&](const instrument::NumberRange& range) {
    if (range.last > kMostRank)
      throw CLI::ValidationError("--ranks", fmt::format("{} is not a rank of a trace", range.last));
    for (std::uint32_t rank = range.first; rank <= range.last; ++rank)
      options.ranks.push_back(static_cast<std::int32_t>(rank));
  });
  if (!is_good && !text.empty()) throw CLI::ValidationError("--ranks", "takes numbers and ranges, 0-3,8");
  std::ranges::sort(options.ranks);
  if (std::ranges::adjacent_find(options.ranks) != options.ranks.end())
    throw CLI::ValidationError("--ranks", "a rank is listed twice");
}

}  // namespace

ReadOptions read_replay_options(int argc, char** argv) {
  ReplayOptions options;
  options.scratch = std::filesystem::temp_directory_path();
  std::string pause = "busy", scratch;
  std::string ranks;
  std::vector<std::string> slow;
  double buffer_megabytes = 1024;
  CLI::App app{
      "Replays the MPI communication and I/O of a traced program, with its sizes, order and pauses, without the "
      "program:\n\n  ardoise --trace all,attributes=arguments mpirun -n 4 ./solver\n"
      "  mpirun -n 4 ardoise-replay ardoise-report/trace/traces.otf2",
      "mpirun -n RANKS ardoise-replay"};
  app.add_option("TRACE", options.trace, "traces.otf2, its folder, or a report's folder")->required();
  app.add_option("--pause", pause, "what a rank does between calls: busy, sleep, none (as fast as possible)")
      ->check(CLI::IsMember({"busy", "sleep", "none"}))
      ->capture_default_str();
  app.add_option("--compute", options.compute, "factor for the recorded pauses")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--noise", options.noise, "relative random variation of each pause: 0.1")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "for --noise")->capture_default_str();
  app.add_option("--slow", slow, "RANK=FACTOR: further factor for the pauses of this rank")->delimiter(',');
  app.add_option(
      "--ranks", ranks,
      "replay only these ranks, e.g. 0-3,8, on that many processes; calls with other ranks take the recorded time");
  app.add_option("--bytes", options.bytes, "factor for the counts of messages and collectives")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--open-wildcards", options.open_wildcards,
               "keep MPI_ANY_SOURCE, MPI_ANY_TAG and MPI_Waitany, instead of the recorded matches");
  app.add_option("--memory", buffer_megabytes,
                 "MiB for buffers of pending messages, in each process; beyond it they share one buffer")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--scratch", scratch, "folder for prepared calls and for files; for MPI-IO all hosts must share it")
      ->check(CLI::ExistingDirectory);
  app.add_flag("-q,--quiet", options.quiet, "no table of times");
  try {
    app.parse(argc, argv);
    take_slowed(options, slow);
    take_ranks(options, ranks);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, ignored;
    const bool is_wrong = app.exit(error, out, ignored) != 0;
    return {std::nullopt, out.str(), is_wrong ? error.what() : ""};
  }
  options.pause = pause == "busy" ? PauseKind::kBusy : pause == "sleep" ? PauseKind::kSleep : PauseKind::kNone;
  options.buffer_bytes = static_cast<std::uint64_t>(buffer_megabytes * (1 << 20));
  if (!scratch.empty()) options.scratch = scratch;
  return {options, "", ""};
}

}  // namespace ardoise::replay
