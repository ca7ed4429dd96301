// Rules whose conditions have become true: workers add them, the event loop takes them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <utility>

#include "blackboard/threads/mutex.hpp"

namespace ardoise::analyzer {

inline constexpr std::uint32_t kAllRanks = UINT32_MAX;

struct RuleOfRank {
  std::uint32_t rule;     // index
  std::uint32_t program;  // partition
  std::uint32_t rank;     // rank in it, or kAllRanks
  auto operator<=>(const RuleOfRank&) const = default;
};
using TimesHeld = std::map<RuleOfRank, std::uint64_t>;

// Thread safe. Holds at most one entry for each rule and rank.
class HeldRules {
 public:
  void note(const RuleOfRank& rule) {
    const MutexLock guard(mutex_);
    ++times_[rule];
  }
  // Entries since the last take().
  [[nodiscard]] TimesHeld take() {
    const MutexLock guard(mutex_);
    return std::exchange(times_, {});
  }

 private:
  Mutex mutex_;
  TimesHeld times_ GUARDED_BY(mutex_);
};

}  // namespace ardoise::analyzer
