// Excess activity of the awaited ranks over the waiting ones since their previous synchronisation: the delay of Böhme,
// Geimer, Wolf and Arnold (Identifying the root causes of wait states in large-scale parallel applications, ICPP 2010),
// summed over all waits for a rank. Time outside MPI comes from samples: each stretch contributes one sample, which
// represents all of its sampled time, so that sums are unbiased; waits with an MPI call in the stretch are caused by
// others in turn.
//
//   awaited rank:   |== relax ==|======= boundary =======| MPI_Allreduce      + relax, + boundary
//   waiting rank:   |== relax ==| MPI_Allreduce ~~~~~~~~~~~~~~~               - relax      → boundary
//
// Memory: 32 bytes for each sampled place of a pair of ranks, at most kMostEntries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/containers/flat_table.hpp"
#include "knowledge_sources/contexts/rank_places.hpp"
#include "knowledge_sources/contexts/thread_samples.hpp"
#include "knowledge_sources/interface/resolver.hpp"
#include "knowledge_sources/matching/patterns.hpp"
#include "knowledge_sources/plugins/waits/world_programs.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class Causes {
 public:
  static constexpr std::size_t kMostEntries = std::size_t{1} << 19;

  explicit Causes(std::uint32_t ranks) : delays_(ranks) {}

  void add(const Wait& wait);  // with a known awaited rank
  void merge(const Causes& other);
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one

  // By awaited rank, the part of its delays that is time in MPI, 0 … 1.
  [[nodiscard]] std::vector<double> held_up() const;
  // For ranks of one program, in its ranks. Functions of waiting ranks of other programs are not subtracted. caused:
  // seconds that others waited for each rank. places, contexts: by rank.
  void contribute(const ProgramRanks& program, const Resolver& resolver,
                  std::span<const std::vector<SampledPlace>> places, const SampledRanks& contexts,
                  std::span<const double> caused, std::vector<reports::WaitCause>& out) const;

 private:
  struct Key {
    std::uint32_t awaited;
    std::uint32_t rank;   // rank of the place: an awaited rank's counts for the delay, a waiting one's against it
    std::uint32_t place;  // of rank_places.hpp; 0: unknown
    friend bool operator==(const Key&, const Key&) = default;
    friend std::uint64_t hash_of(const Key& key) {
      return ((std::uint64_t{key.awaited} << 32 | key.rank) * 0x9E3779B97F4A7C15u ^ key.place) * 0xBF58476D1CE4E5B9u;
    }
  };
  struct Sampled {
    std::uint64_t ns, squares;  // µs²
  };
  // The awaited rank's time less the waiting ranks', ns. Unsigned, so that invalid input may wrap around; the sums of a
  // run are within 290 years.
  struct Delay {
    std::uint64_t mpi = 0, sampled = 0, other = 0;
    void add(const Delay& more) {
      mpi += more.mpi;
      sampled += more.sampled;
      other += more.other;
    }
  };
  static double signed_ns(std::uint64_t sum) { return static_cast<double>(static_cast<std::int64_t>(sum)); }
  void add_sampled(const Key& key, const Sampled& more);

  std::vector<Delay> delays_;  // by awaited rank
  FlatTable<Key, Sampled> sampled_;
};

}  // namespace ardoise::knowledge_sources
