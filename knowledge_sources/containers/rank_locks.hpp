// Locks for arrays indexed by rank. An operation accumulates a whole pack in its worker's scratch memory and takes the
// lock of the pack's rank once, to add its few sums. So results exist once, not once for each worker (memory for a
// hundred thousand ranks matters more than a lock for each pack), and workers contend only on packs of the same stripe.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

namespace ardoise::knowledge_sources {

class RankLocks {
 public:
  [[nodiscard]] std::unique_lock<std::mutex> lock(std::uint32_t rank) {
    return std::unique_lock(stripes_[rank % stripes_.size()].mutex);
  }

 private:
  struct alignas(64) Stripe {
    std::mutex mutex;
  };
  std::array<Stripe, 64> stripes_;
};

}  // namespace ardoise::knowledge_sources
