// Markers that the analyzer adds to a trace.
#pragma once

#include <cstdint>
#include <string>

namespace ardoise::knowledge_sources {

struct TraceMarker {
  enum class Severity : std::uint8_t { kNone, kLow, kMedium, kHigh };
  std::string program;   // Program::name
  std::string group;     // "finding"
  std::string category;  // with group and severity the key by which tools select markers
  Severity severity = Severity::kNone;
  double begin_seconds = 0, seconds = 0;  // since time 0 of the program
  std::string text;
};

}  // namespace ardoise::knowledge_sources
