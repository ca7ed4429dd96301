// Where the threads of one rank were sampled between their MPI calls: each place has a number, and of any stretch of
// time (stretch.hpp) one of its latest samples can be drawn, each with the chance of its weight.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "instrument/format/event_format.hpp"
#include "knowledge_sources/flat_table.hpp"
#include "knowledge_sources/samples/thread_samples.hpp"

namespace ardoise::knowledge_sources {

struct SampledPlace {
  std::uint32_t thread;
  SampleKey key;
  friend bool operator==(const SampledPlace&, const SampledPlace&) = default;
  friend std::uint64_t hash_of(const SampledPlace& place) {
    const std::uint64_t where = std::uint64_t{place.key.context} << 32 | place.key.pc_offset;
    const std::uint64_t kind = std::uint64_t{place.thread} << 32 | (place.key.function << 16 ^ place.key.flags);
    return (where * 0x9E3779B97F4A7C15u ^ kind) * 0xBF58476D1CE4E5B9u;
  }
};

// Not thread safe.
class RankPlaces {
 public:
  static constexpr std::size_t kMost = 4096;  // beyond it: 0

  // From 1 on.
  [[nodiscard]] std::uint32_t number_of(std::uint32_t thread, const instrument::SampledExtension& sample);
  // places()[n - 1] is that of number n.
  [[nodiscard]] const std::vector<SampledPlace>& places() const { return places_; }

 private:
  std::vector<SampledPlace> places_;
  FlatTable<SampledPlace, std::uint32_t> numbers_;
};

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
