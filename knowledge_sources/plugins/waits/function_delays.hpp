// Maps sampled places to the functions that made a rank late (causes.hpp). A function that only the awaited rank calls,
// or that it calls far more than the waiting ranks, represents its callees that all of them call:
//
//   main ─▶ relax              ─▶ inner_cells    rank 2 0.10 s, the waiting one 0.10 s
//        └▶ expensive_boundary ─▶ inner_cells    rank 2 0.30 s                            → expensive_boundary 0.30 s
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "knowledge_sources/contexts/place_nodes.hpp"

namespace ardoise::knowledge_sources {

// Half width of a 99 % interval of a sum with that variance.
[[nodiscard]] double half_width(double squares);

struct FunctionDelay {
  std::string symbol, source_file;
  std::uint32_t line = 0;  // the line with most of it, if it is the function's own
  bool io = false;         // a POSIX call
  double ns = 0;           // of the awaited rank, less those of the waiting ones; may be negative
  double squares = 0;      // ns²: variance of sampling
  [[nodiscard]] double half_width() const { return knowledge_sources::half_width(squares); }  // ns
};

// Half of it or more may be chance: no function is named for it.
[[nodiscard]] bool may_be_chance(double ns, double squares);

// Not thread safe.
class FunctionDelays {
 public:
  // places, contexts: by rank; borrowed.
  FunctionDelays(const Resolver& resolver, std::span<const std::vector<SampledPlace>> places,
                 const SampledRanks& contexts)
      : places_(resolver, places, contexts) {}

  // A sample in the rank's stretches before waits for the awaited rank.
  struct Sample {
    std::uint32_t awaited, rank, place;
    double ns, squares;
  };
  void add(const Sample& sample) { samples_.push_back(sample); }
  // By awaited rank.
  [[nodiscard]] std::map<std::uint32_t, std::vector<FunctionDelay>> functions();

 private:
  struct Sums {
    double ns = 0, own = 0, squares = 0;  // own: of the awaited rank alone
    void add(const Sums& more) {
      ns += more.ns;
      own += more.own;
      squares += more.squares;
    }
  };
  struct OfNode {
    Sums sums;
    std::map<std::uint32_t, double> lines;  // ns
  };
  using Nodes = std::map<std::uint32_t, OfNode>;
  [[nodiscard]] std::vector<FunctionDelay> functions_of(const Nodes& nodes) const;
  [[nodiscard]] std::vector<std::uint32_t> path_of(std::uint32_t node) const;
  [[nodiscard]] FunctionDelay named(std::uint32_t function) const;

  PlaceNodes places_;
  std::vector<Sample> samples_;
};

}  // namespace ardoise::knowledge_sources
