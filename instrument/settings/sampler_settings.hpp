// What the user may set of sampling: ARDOISE_SAMPLE, ARDOISE_RATE, ARDOISE_PERIOD, ARDOISE_COUNTERS,
// ARDOISE_SAMPLE_SHARE, ARDOISE_PERF (docs/sampling.md). Read when MPI is up, by session.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instrument/machine/perf_events.hpp"

namespace ardoise::instrument {

enum class SampleMode : std::uint8_t { kOff, kCpu, kWall, kEvent };

struct SamplerSettings {
  SampleMode mode = SampleMode::kCpu;
  const PerfEvent* event = nullptr;  // kEvent
  double hertz = 10'000;             // samples per second at full rate, when sampling by time
  std::uint64_t period = 0;          // kEvent: occurrences for each sample; 0: the event's own first period
  double share = 0.01;               // of a thread's time that sampling may cost; 0: without limit
  bool use_perf = true;              // false: CPU time by POSIX timers alone
  std::vector<const PerfEvent*> counters;
  std::string complaint;  // sentences about values that were not understood; "": none
};

// get returns the value of a variable or nullptr.
[[nodiscard]] SamplerSettings read_sampler_settings(const char* (*get)(const char* name));

}  // namespace ardoise::instrument
