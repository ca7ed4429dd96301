// Places where the threads of one rank were sampled between their MPI calls; each place has a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "instrument/format/event_format.hpp"
#include "knowledge_sources/containers/flat_table.hpp"
#include "knowledge_sources/contexts/thread_samples.hpp"

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
  // Restores the result of places() into an empty object.
  void read(std::vector<SampledPlace> places);
  // places()[n - 1] has number n.
  [[nodiscard]] const std::vector<SampledPlace>& places() const { return places_; }

 private:
  std::vector<SampledPlace> places_;
  FlatTable<SampledPlace, std::uint32_t> numbers_;
};

}  // namespace ardoise::knowledge_sources
