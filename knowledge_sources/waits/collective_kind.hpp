// Which ranks of a collective wait for which, by function.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "vmpi/mpi_functions.hpp"

namespace ardoise::knowledge_sources {

enum class CollectiveKind : std::uint8_t {
  kNone,       // no collective on a communicator, or one without a place in the order of its calls
  kUnjudged,   // has a place in that order, but is not blocking, or has neighbours only
  kBarrier,    // all wait for all
  kAllToAll,   // likewise, with data
  kFromRoot,   // all wait for the root
  kToRoot,     // the root waits for all
  kFromLower,  // each waits for those of lower rank
};

namespace detail {

constexpr CollectiveKind kind_of(const vmpi::FunctionTraits& function) {
  using vmpi::Role;
  if (function.role == Role::kNeighbour) return function.persistent ? CollectiveKind::kNone : CollectiveKind::kUnjudged;
  if (function.role != Role::kCollective && function.role != Role::kRooted) return CollectiveKind::kNone;
  if (function.persistent) return CollectiveKind::kNone;
  if (function.starts_request) return CollectiveKind::kUnjudged;
  std::string_view name = function.name;
  if (name.ends_with("_c")) name.remove_suffix(2);
  const auto is_one_of = [&](auto... names) { return ((name == names) || ...); };
  if (name == "MPI_Barrier") return CollectiveKind::kBarrier;
  if (is_one_of("MPI_Bcast", "MPI_Scatter", "MPI_Scatterv")) return CollectiveKind::kFromRoot;
  if (is_one_of("MPI_Reduce", "MPI_Gather", "MPI_Gatherv")) return CollectiveKind::kToRoot;
  if (is_one_of("MPI_Scan", "MPI_Exscan")) return CollectiveKind::kFromLower;
  if (is_one_of("MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw",
                "MPI_Reduce_scatter", "MPI_Reduce_scatter_block"))
    return CollectiveKind::kAllToAll;
  return CollectiveKind::kUnjudged;
}

inline constexpr auto kCollectiveKinds = [] {
  std::array<CollectiveKind, vmpi::kFunctionCount> kinds{};
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] = kind_of(vmpi::kFunctionTraits[i]);
  return kinds;
}();

}  // namespace detail

// Of a number that came from outside.
[[nodiscard]] constexpr CollectiveKind collective_kind(std::uint32_t function) {
  return function < detail::kCollectiveKinds.size() ? detail::kCollectiveKinds[function] : CollectiveKind::kNone;
}

}  // namespace ardoise::knowledge_sources
