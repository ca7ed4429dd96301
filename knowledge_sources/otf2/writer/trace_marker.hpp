// What the analyzer wants to stand over the time of a trace, beside its events.
#pragma once

#include <cstdint>
#include <string>

namespace ardoise::knowledge_sources {

struct TraceMarker {
  enum class Severity : std::uint8_t { kNone, kLow, kMedium, kHigh };
  std::string program;   // Program::name
  std::string group;     // "finding"
  std::string category;  // "load_imbalance": with its group and severity it is what tools choose by
  Severity severity = Severity::kNone;
  double begin_seconds = 0, seconds = 0;  // since time 0 of the program
  std::string text;
};

}  // namespace ardoise::knowledge_sources
