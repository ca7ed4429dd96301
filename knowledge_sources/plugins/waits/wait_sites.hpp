// Waits by program, call site and pattern: total, number, the longest, the waiting ranks and the awaited ranks. Sums of
// whole nanoseconds, which do not depend on the order of addition. Memory: linear in the call sites that wait, a bit
// for each rank that waits at one, and 24 to 48 bytes for each rank awaited there.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/containers/flat_table.hpp"
#include "knowledge_sources/containers/rank_set.hpp"
#include "knowledge_sources/interface/resolver.hpp"
#include "knowledge_sources/matching/patterns.hpp"
#include "knowledge_sources/plugins/waits/world_programs.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class WaitSites {
 public:
  // programs: borrowed.
  explicit WaitSites(const WorldPrograms& programs) : programs_(&programs) {}

  void add(const Wait& wait);
  void merge(const WaitSites& other);
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one
  // Patterns and call sites of a program.
  void contribute(std::size_t program, const Resolver& resolver, reports::Waiting& model) const;

 private:
  struct Key {
    std::uint32_t program, function, call_site;
    WaitPattern pattern;
    friend constexpr auto operator<=>(const Key&, const Key&) = default;
  };
  struct Longest {
    std::uint64_t ns = 0;
    double begin = 0;  // as in Wait
    std::uint32_t waiter = 0, awaited = kNobody;
    void add(const Longest& more);
  };
  struct Sums {
    std::uint64_t ns = 0, occurrences = 0;
    Longest longest;
    void add(const Sums& more);
  };
  struct Site {
    Key key;
    Sums sums;
    RankSet waiters;
  };
  [[nodiscard]] std::uint32_t number_of(const Key& key);
  void add_awaited(std::uint32_t site, std::uint32_t awaited, std::uint64_t ns) {
    *awaited_.insert(std::uint64_t{site} << 32 | awaited, 0).first += ns;
  }
  struct Awaited {
    std::uint64_t ns = 0;
    std::uint32_t rank = kNobody;
  };
  [[nodiscard]] std::vector<Awaited> most_awaited() const;  // by site
  [[nodiscard]] static reports::LongestWait longest_of(const ProgramRanks& program, const Longest& longest);

  const WorldPrograms* programs_;
  std::vector<Site> sites_;
  std::map<Key, std::uint32_t> numbers_;
  std::uint32_t last_ = 0;                           // most waits are at the same site as the previous one
  FlatTable<std::uint64_t, std::uint64_t> awaited_;  // ns by site and awaited rank
};

}  // namespace ardoise::knowledge_sources
