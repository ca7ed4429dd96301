// The model of the adaptive sampling paper (section VI.B, figure 6): a run of four hours, sampled at 10 kHz, with MPI
// events, in one budget of 100 MB and without a stream, fed to the real buffer. A test checks its results, and a
// benchmark draws the figure.
#pragma once

#include <cstdint>
#include <vector>

namespace ardoise::instrument {

struct ModelScenario {
  char name;
  std::uint32_t sample_bytes;
  std::uint32_t mpi_bytes_per_second;
};
inline constexpr ModelScenario kModelScenarios[] = {
    {'A', 48, 1000}, {'B', 102, 1000}, {'C', 48, 10000}, {'D', 102, 10000}};
inline constexpr double kModelHertz = 10000, kModelSeconds = 4 * 3600;
inline constexpr std::size_t kModelBudget = 100'000'000, kModelBin = 65536;

struct ModelPoint {
  double seconds;
  double mpi_share, sample_share;  // of the bins
  double hertz;
};

struct ModelResult {
  std::uint32_t halvings = 0;
  double hertz = 0;                  // at the end
  double mpi_removed = 0;            // seconds; 0: never
  std::uint64_t offered = 0;         // samples
  std::uint64_t kept = 0;            // samples in the buffer at the end
  std::uint64_t mpi_calls = 0;       // made
  std::uint64_t mpi_records = 0;     // in the buffer at the end
  std::uint64_t mpi_aggregated = 0;  // calls behind the aggregates
  std::uint64_t mpi_bytes_sent = 0, mpi_bytes_aggregated = 0;
  std::vector<ModelPoint> points;  // one each `every` seconds, and at each change
};

// The sampler keeps its rate: it offers every sample, and the buffer discards those of closed levels.
[[nodiscard]] ModelResult run_model(const ModelScenario& scenario, double every_seconds);

}  // namespace ardoise::instrument
