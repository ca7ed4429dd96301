// Waits for locks of windows. A lock that conflicts with others (one of two is exclusive, on the same window and
// target) is granted when the last previous one is released; whose that was is known only with the locks of all ranks,
// so they are kept and evaluated at the end.
//
//   holder:  Win_lock | Put         Win_unlock
//   waiter:      Win_lock ~~~~~~~~~~|  Put  Win_unlock
//
// Memory: at most kMostEpochs; further ones are counted as unresolved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "knowledge_sources/plugins/waits/wait_sums.hpp"
#include "knowledge_sources/plugins/waits/window_parts.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class Locks {
 public:
  static constexpr std::size_t kMostEpochs = std::size_t{1} << 18;  // 128 bytes each: some 34 MB

  void add(const LockEpoch& epoch, WaitSums& sums);
  // After all locks have arrived.
  void evaluate(WaitSums& sums) const;

 private:
  std::map<WindowId, std::vector<LockEpoch>> windows_;
  std::size_t epochs_ = 0;
};

}  // namespace ardoise::knowledge_sources
