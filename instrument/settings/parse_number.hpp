// Numbers in environment variables. Used by settings.cpp and sampler_settings.cpp.
#pragma once

#include <cstdlib>
#include <optional>

namespace ardoise::instrument {

// The whole text, from `least` to `most`; nothing else is a number.
[[nodiscard]] inline std::optional<double> parse_number(const char* text, double least, double most) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(value >= least && value <= most)) return std::nullopt;
  return value;
}

}  // namespace ardoise::instrument
