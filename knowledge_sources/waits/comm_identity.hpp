// A communicator, in all its ranks.
#pragma once

#include <compare>
#include <cstdint>

namespace ardoise::knowledge_sources {

struct CommIdentity {
  std::uint64_t group_hash;
  std::uint32_t instance, size;
  friend constexpr auto operator<=>(const CommIdentity&, const CommIdentity&) = default;
};

}  // namespace ardoise::knowledge_sources
