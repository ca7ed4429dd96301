// Conditions over all ranks of a program, "balance() < 0.8", while it runs. A round (load.hpp) is looked at when all
// ranks have told theirs: balance is the mean of their times outside of MPI over the longest, the load balance of the
// POP efficiencies.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "knowledge_sources/plugins/snapshots/condition.hpp"
#include "knowledge_sources/plugins/snapshots/load.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class Balances {
 public:
  // Ranks differ whose time is farther from the mean than this part of it.
  static constexpr double kDiffers = 0.1;

  // becomes_true(i, ranks): conditions[i] has become true, and these ranks differ, in their order.
  using BecomesTrue = std::function<void(std::size_t condition, std::span<const std::uint32_t> differing)>;
  Balances(std::uint32_t ranks, std::vector<Condition> conditions, BecomesTrue becomes_true);

  // That are wanted, as in Load.
  [[nodiscard]] const std::vector<std::uint32_t>& names() const { return names_; }
  // Rounds of a name that are not whole yet are kept while there is room: the oldest of all goes first.
  void add(const Load& load);

 private:
  static constexpr std::size_t kMostLoads = std::size_t{1} << 20;  // that wait for the others of their round
  struct Round {
    std::vector<std::uint64_t> own_ns;  // by rank; kMissing
    std::uint32_t known = 0;
    std::int64_t end = 0;
  };
  static constexpr std::uint64_t kMissing = ~std::uint64_t{0};
  struct State {
    std::vector<double> balances;  // by variable, of the latest round
    bool held = false;
  };
  void judge(std::uint32_t name, const Round& round);

  const std::uint32_t ranks_;
  const std::vector<Condition> conditions_;
  const BecomesTrue becomes_true_;
  std::vector<std::uint32_t> names_;
  std::vector<State> states_;                                        // by condition
  std::map<std::pair<std::uint64_t, std::uint32_t>, Round> rounds_;  // by round and name
};

}  // namespace ardoise::knowledge_sources
