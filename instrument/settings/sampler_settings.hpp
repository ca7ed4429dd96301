// The options of sampling (option_table.hpp), read from the program's environment. preload.cpp reads them when MPI is
// up.
#pragma once

#include <cstdint>
#include <vector>

#include "instrument/machine/perf_events.hpp"
#include "instrument/settings/option_values.hpp"

namespace ardoise::instrument {

enum class SampleMode : std::uint8_t { kOff, kCpu, kEvent };

struct SamplerSettings {
  SampleMode mode = SampleMode::kCpu;
  const PerfEvent* event = nullptr;  // kEvent
  double hertz = 10'000;             // samples per second at full rate, when sampling by time
  std::uint64_t period = 0;          // kEvent: occurrences for each sample; 0: the event's own first period
  double share = 0.01;               // limit of the share of a thread's time for sampling; 0: none
  bool use_perf = true;              // false: CPU time by POSIX timers alone
  std::vector<const PerfEvent*> counters;
};

// Settings::complaint describes invalid values.
[[nodiscard]] SamplerSettings read_sampler_settings(GetVariable get);

}  // namespace ardoise::instrument
