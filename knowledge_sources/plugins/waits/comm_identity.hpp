// A communicator, identified across its ranks.
#pragma once

#include <compare>
#include <cstdint>

namespace ardoise::knowledge_sources {

struct CommIdentity {
  std::uint64_t group_hash;
  std::uint32_t instance, size;
  friend constexpr auto operator<=>(const CommIdentity&, const CommIdentity&) = default;
  friend constexpr std::uint64_t hash_of(const CommIdentity& comm) {
    return (comm.group_hash ^ (std::uint64_t{comm.instance} << 32 | comm.size)) * 0x9E3779B97F4A7C15u;
  }
};

}  // namespace ardoise::knowledge_sources
