// Random runs of streams over the model of MPI for a given time: stream_soak [--seconds 120] [--seed N]. Exit status 1
// and the seed of the run when one goes wrong. ctest label soak.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <random>

#include "stream_pace.hpp"

int main(int argc, char** argv) {
  int seconds = 120;
  std::uint64_t seed = std::random_device()();
  CLI::App app{"Streams at random pace, for a given time"};
  app.add_option("--seconds", seconds);
  app.add_option("--seed", seed, "of the first run");
  CLI11_PARSE(app, argc, argv);
  fmt::print("stream_soak: seeds from {}\n", seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::uint64_t runs = 0, blocks = 0;
  do {
    ardoise::vmpi::PaceRun run(seed + runs);
    if (const auto complaint = run.run(); !complaint.empty()) {
      fmt::print("stream_soak: --seed {} ({}): {}\n", seed + runs, run.shape(), complaint);
      return 1;
    }
    ++runs;
    blocks += run.blocks();
  } while (std::chrono::steady_clock::now() < end);
  fmt::print("stream_soak: {} runs, {} blocks\n", runs, blocks);
  return 0;
}
