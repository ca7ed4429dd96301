// Draws one of the latest samples in any stretch of time (stretch.hpp) of a thread, with a probability proportional to
// its weight.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ardoise::knowledge_sources {

// The latest samples of one thread.
class LatestSamples {
 public:
  void add(double time, std::uint64_t weight, std::uint32_t place) {
    samples_[next_++ % kKept] = {time, static_cast<float>(weight), place};
  }
  // A sample in (from, to], 0 if none is left; equal queries give equal samples.
  [[nodiscard]] std::uint32_t draw(double from, double to) const;

 private:
  static constexpr std::size_t kKept = 16;
  struct Sample {
    double time;
    float weight;
    std::uint32_t place;
  };
  std::array<Sample, kKept> samples_{};
  std::size_t next_ = 0;
};

}  // namespace ardoise::knowledge_sources
