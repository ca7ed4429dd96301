// The profile of calls by function and by call site, common to mpi_profile and posix_profile. CallScratch sums one pack
// in a worker's own memory; CallProfile holds the results (per call site of the program, not per event or rank) and
// makes the lists of the model from them and from the exact sums of the Resolver.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "instrument/format/event_format.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/containers/pack_table.hpp"
#include "knowledge_sources/containers/rank_set.hpp"
#include "knowledge_sources/interface/resolver.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

// Buckets of FunctionProfile::calls_by_size: size 0, then one for each power of two.
inline constexpr std::size_t kSizeBuckets = 65;
[[nodiscard]] inline std::size_t size_bucket(std::uint64_t bytes) {
  return static_cast<std::size_t>(std::bit_width(bytes));
}

// (function, call site) in one word that is never 0.
[[nodiscard]] constexpr std::uint64_t site_key(std::uint32_t function, std::uint32_t call_site) {
  return std::uint64_t{function + 1} << 32 | call_site;
}
[[nodiscard]] constexpr std::uint32_t function_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> 32) - 1;
}

// Sums of CallScratch for each call site, in ticks.
struct SiteTicks {
  std::uint64_t calls = 0, ticks = 0, bytes = 0;
  std::uint64_t min = std::numeric_limits<std::uint64_t>::max(), max = 0;
  // Non-blocking operations started here and completed by recorded calls.
  std::uint64_t operations = 0, flight = 0, waited = 0;
};

class CallProfile;

class CallScratch {
 public:
  explicit CallScratch(std::size_t functions) : sizes_(functions), in_use_(functions) {}

  // Begins a pack. Results go to `profile` in finish(), or earlier when there are many call sites.
  void begin(CallProfile& profile, const instrument::PackHeader& header, double ns_per_tick);
  // One call; `function` is below the number given to the constructor.
  void add(std::uint32_t function, std::uint32_t call_site, std::uint64_t ticks, std::uint64_t bytes) {
    add(function, call_site, {1, ticks, bytes, ticks, ticks});
  }
  // Many calls at once: their sums, and how many were of each size.
  void add(std::uint32_t function, std::uint32_t call_site, const SiteTicks& sums) {
    SiteTicks& site = at(function, call_site);
    site.calls += sums.calls;
    site.ticks += sums.ticks;
    site.bytes += sums.bytes;
    site.min = sums.min < site.min ? sums.min : site.min;
    site.max = sums.max > site.max ? sums.max : site.max;
  }
  // An operation that was in flight for `flight` ticks, the last `waited` of them in the call that completed it.
  void add_operation(std::uint32_t function, std::uint32_t call_site, std::uint64_t flight, std::uint64_t waited) {
    SiteTicks& site = at(function, call_site);
    ++site.operations;
    site.flight += flight;
    site.waited += waited;
  }
  void add_sizes(std::uint32_t function, std::size_t bucket, std::uint64_t calls) {
    sizes_[function][bucket] += calls;
    in_use_[function] = 1;
  }
  // Bytes of a call that become known later.
  void add_bytes(std::uint32_t function, std::uint32_t call_site, std::uint64_t bytes) {
    at(function, call_site).bytes += bytes;
  }
  void add_size(std::uint32_t function, std::uint64_t bytes) {
    ++sizes_[function][size_bucket(bytes)];
    in_use_[function] = 1;
  }
  void finish();

 private:
  friend class CallProfile;
  SiteTicks& at(std::uint32_t function, std::uint32_t call_site) {
    return sites_.at(site_key(function, call_site), [this](auto&) { flush_sites(); });
  }
  void flush_sites();

  CallProfile* profile_ = nullptr;
  const instrument::PackHeader* header_ = nullptr;
  double ns_per_tick_ = 1;
  PackTable<SiteTicks, 9> sites_;
  std::vector<std::array<std::uint64_t, kSizeBuckets>> sizes_;  // by function
  std::vector<std::uint8_t> in_use_;                            // by function
};

class CallProfile {
 public:
  explicit CallProfile(instrument::PackClass record_class) : record_class_(record_class) {}

  void merge(const CallProfile& other);
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one
  // Appends to both lists, unsorted.
  void contribute(const Resolver& resolver, std::vector<reports::FunctionProfile>& functions,
                  std::vector<reports::CallSite>& call_sites) const;

 private:
  friend class CallScratch;
  struct Site {
    std::uint64_t calls = 0, ns = 0, bytes = 0;
    std::uint64_t min_ps = std::numeric_limits<std::uint64_t>::max(), max_ps = 0;
    std::uint64_t operations = 0, flight_ns = 0, waited_ns = 0;
    RankSet ranks;
  };
  using Sizes = std::array<std::uint64_t, kSizeBuckets>;

  instrument::PackClass record_class_;
  std::unordered_map<std::uint64_t, Site> sites_;   // by site_key
  std::unordered_map<std::uint32_t, Sizes> sizes_;  // by function
};

}  // namespace ardoise::knowledge_sources
