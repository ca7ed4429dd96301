// Of any stretch of time (stretch.hpp) of a thread one of its latest samples can be drawn, each with the chance of its
// weight.
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
  // One of those after `from` and not after `to`, 0 where none is left; the same one for the same question.
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
