// Conditions over all ranks of a program, "balance() < 0.8", during the run. A round (load.hpp) is evaluated when all
// ranks have reported it: balance is the mean over the maximum of their times outside MPI, the load balance of the POP
// efficiencies.
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
  // A rank differs if its time deviates from the mean by more than this fraction.
  static constexpr double kDiffers = 0.1;

  // becomes_true(i, ranks): conditions[i] has become true, and these ranks differ, in order.
  using BecomesTrue = std::function<void(std::size_t condition, std::span<const std::uint32_t> differing)>;
  Balances(std::uint32_t ranks, std::vector<Condition> conditions, BecomesTrue becomes_true);

  // Names of the required loads, as in Load.
  [[nodiscard]] const std::vector<std::uint32_t>& names() const { return names_; }
  // Incomplete rounds are kept while there is room; the oldest is dropped first.
  void add(const Load& load);

 private:
  static constexpr std::size_t kMostLoads = std::size_t{1} << 20;  // waiting for other ranks of their round
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
  void evaluate(std::uint32_t name, const Round& round);

  const std::uint32_t ranks_;
  const std::vector<Condition> conditions_;
  const BecomesTrue becomes_true_;
  std::vector<std::uint32_t> names_;
  std::vector<State> states_;                                        // by condition
  std::map<std::pair<std::uint64_t, std::uint32_t>, Round> rounds_;  // by round and name
};

}  // namespace ardoise::knowledge_sources
