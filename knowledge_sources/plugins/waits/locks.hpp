// Who waited for whose lock of a window. A lock that conflicts with others (of two one is exclusive, on the same window
// and target) is got when the last of those before it is given back; whose that was can only be told when the locks of
// all ranks are known: they are kept, and judged at the end.
//
//   holder:  Win_lock | Put         Win_unlock
//   waiter:      Win_lock ~~~~~~~~~~|  Put  Win_unlock
//
// Memory: at most kMostEpochs; what comes beyond is counted as unresolved.
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
  // When all have come.
  void judge(WaitSums& sums) const;

 private:
  std::map<WindowId, std::vector<LockEpoch>> windows_;
  std::size_t epochs_ = 0;
};

}  // namespace ardoise::knowledge_sources
