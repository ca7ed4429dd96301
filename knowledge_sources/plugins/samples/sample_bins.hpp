// Weights of samples by context over time, for one rank, in bounded memory: at most kBins bins and kEntries entries;
// beyond either, neighbouring bins are joined. Bins are 2^shift ns wide. The result has the finest resolution that fits
// all samples, so it does not depend on the order of arrival or merging.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/contexts/thread_samples.hpp"

namespace ardoise::knowledge_sources {

class SampleBins {
 public:
  static constexpr std::uint64_t kBins = 256;
  static constexpr std::size_t kEntries = 65536;
  static constexpr unsigned kFirstShift = 20;  // 1 ms
  static constexpr unsigned kLastShift = 63;

  struct Key {
    std::uint32_t thread, bin;
    SampleKey sample;
    friend constexpr auto operator<=>(const Key&, const Key&) = default;
  };
  struct Entry {
    Key key;
    std::uint64_t weight;
    void add(const Entry& more) { weight += more.weight; }
  };

  // Widens the bins until one covers this time since the program's origin.
  void reach(std::uint64_t ns) {
    unsigned shift = shift_;
    while (ns >> shift >= kBins) ++shift;
    widen_to(shift);
  }
  // `more`: any order; bins of the current width.
  void add(std::vector<Entry>& more);
  void widen_to(unsigned shift);
  void merge(const SampleBins& other);

  [[nodiscard]] unsigned shift() const { return shift_; }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one

 private:
  unsigned shift_ = kFirstShift;
  std::vector<Entry> entries_;  // summed up
};

}  // namespace ardoise::knowledge_sources
