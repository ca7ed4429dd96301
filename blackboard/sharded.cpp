// The number that spreads threads over shards.
#include "blackboard/sharded.hpp"

namespace ardoise::blackboard {
namespace {

constexpr unsigned kUnset = ~0u;
constinit thread_local unsigned shard = kUnset;

[[gnu::noinline]] unsigned assign() noexcept {
  static std::atomic<unsigned> next{0};
  // relaxed: only the numbers must differ.
  shard = next.fetch_add(1, std::memory_order_relaxed) % kShards;
  return shard;
}

}  // namespace

unsigned this_thread_shard() noexcept { return shard != kUnset ? shard : assign(); }

}  // namespace ardoise::blackboard
