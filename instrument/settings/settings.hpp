// What the user may set: the environment variables of the recorder (docs/instrument.md lists them). Read once, when MPI
// is up, by preload.cpp.
#pragma once

#include <cstddef>
#include <string>

namespace ardoise::instrument {

// What happens when no bin is free.
enum class Policy {
  kAdapt,  // less is recorded: samples of the lowest level go, MPI and POSIX records become aggregates
  kBlock,  // the program waits for the analyzer
};

// Which records become aggregates first (event_reduction.hpp).
enum class ReduceBy { kClass, kDepth, kDuration };

struct Settings {
  bool disabled = false;                             // ARDOISE_DISABLE
  std::size_t budget_bytes = std::size_t{16} << 20;  // ARDOISE_BUDGET, memory for bins
  std::size_t bin_bytes = std::size_t{64} << 10;     // ARDOISE_BIN, one pack, and one block of the stream
  Policy policy = Policy::kAdapt;                    // ARDOISE_POLICY
  double mpi_share = 0.5;                            // ARDOISE_MPI_SHARE, part of the budget for MPI records
  ReduceBy reduce = ReduceBy::kClass;                // ARDOISE_REDUCE
  double flush_seconds = 1.0;                        // ARDOISE_FLUSH, age at which a partly filled bin is sent
  std::string capture_directory;                     // ARDOISE_CAPTURE, "": none
  std::string complaint;  // one sentence about values that were not understood (the defaults stand), "": none
};

// get returns the value of a variable or nullptr. Sizes take the suffixes k, M and G.
[[nodiscard]] Settings read_settings(const char* (*get)(const char* name));

}  // namespace ardoise::instrument
