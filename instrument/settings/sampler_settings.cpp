// See sampler_settings.hpp.
#include "instrument/settings/sampler_settings.hpp"

#include <fmt/core.h>

#include <string_view>

#include "instrument/settings/parse_number.hpp"

namespace ardoise::instrument {
namespace {

constexpr double kMaxHertz = 100'000;

}  // namespace

SamplerSettings read_sampler_settings(const char* (*get)(const char* name)) {
  SamplerSettings settings;
  const auto complain = [&](std::string_view name, std::string_view value, std::string_view wanted) {
    if (!settings.complaint.empty()) settings.complaint += ' ';
    settings.complaint += fmt::format("{}={} is not {}.", name, value, wanted);
  };
  if (const char* value = get("ARDOISE_SAMPLE"); value != nullptr && *value != '\0') {
    const std::string_view mode = value;
    if (mode == "off" || mode == "0") {
      settings.mode = SampleMode::kOff;
    } else if (mode == "wall") {
      settings.mode = SampleMode::kWall;
    } else if (const PerfEvent* const event = find_perf_event(mode)) {
      settings.mode = SampleMode::kEvent;
      settings.event = event;
    } else if (mode != "cpu" && mode != "1") {
      complain("ARDOISE_SAMPLE", mode,
               fmt::format("off, cpu, wall or an event ({}); CPU time is sampled", perf_event_names()));
    }
  }
  if (const char* value = get("ARDOISE_RATE"); value != nullptr && *value != '\0') {
    if (const auto hertz = parse_number(value, 0.1, kMaxHertz)) {
      settings.hertz = *hertz;
    } else {
      complain("ARDOISE_RATE", value, "a number of samples per second from 0.1 to 100000; the default is used");
    }
  }
  if (const char* value = get("ARDOISE_PERIOD"); value != nullptr && *value != '\0') {
    if (const auto period = parse_number(value, 1, 1e15)) {
      settings.period = static_cast<std::uint64_t>(*period);
    } else {
      complain("ARDOISE_PERIOD", value, "a number of occurrences of the sampled event; the default is used");
    }
  }
  if (const char* value = get("ARDOISE_SAMPLE_SHARE"); value != nullptr && *value != '\0') {
    if (const auto share = parse_number(value, 0, 0.5)) {
      settings.share = *share;
    } else {
      complain("ARDOISE_SAMPLE_SHARE", value, "a share of time from 0 (no limit) to 0.5; the default is used");
    }
  }
  if (const char* value = get("ARDOISE_PERF")) settings.use_perf = std::string_view(value) != "0";
  if (const char* value = get("ARDOISE_COUNTERS"); value != nullptr) {
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const std::string_view name = rest.substr(0, comma);
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
      if (name.empty()) continue;
      if (const PerfEvent* const event = find_perf_event(name); event == nullptr) {
        complain("ARDOISE_COUNTERS", name, fmt::format("a counter; there are {}", perf_event_names()));
      } else if (settings.counters.size() == kMaxCounters) {
        complain("ARDOISE_COUNTERS", name, fmt::format("read: at most {} counters are", kMaxCounters));
      } else {
        settings.counters.push_back(event);
      }
    }
  }
  return settings;
}

}  // namespace ardoise::instrument
