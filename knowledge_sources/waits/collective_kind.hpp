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
  kUnjudged,   // has a place in that order, but has neighbours only, or makes or frees an object
  kBarrier,    // all wait for all
  kAllToAll,   // likewise, with data
  kFromRoot,   // all wait for the root
  kToRoot,     // the root waits for all
  kFromLower,  // each waits for those of lower rank
};

namespace detail {

// But for the case of the first letter.
constexpr bool is_same_word(std::string_view word, std::string_view other) {
  return word.size() == other.size() && !word.empty() && (word[0] | 0x20) == (other[0] | 0x20) &&
         word.substr(1) == other.substr(1);
}

constexpr CollectiveKind kind_of(const vmpi::FunctionTraits& function) {
  using vmpi::Role;
  if (function.role == Role::kNeighbour) return function.persistent ? CollectiveKind::kNone : CollectiveKind::kUnjudged;
  if (function.role != Role::kCollective && function.role != Role::kRooted) return CollectiveKind::kNone;
  if (function.persistent) return CollectiveKind::kNone;
  std::string_view name = function.name;
  name.remove_prefix(std::string_view("MPI_").size());
  if (function.starts_request) name.remove_prefix(1);  // "Ibarrier"
  if (name.ends_with("_c")) name.remove_suffix(2);
  const auto is_one_of = [&](auto... names) { return (is_same_word(name, names) || ...); };
  if (is_one_of("Barrier")) return CollectiveKind::kBarrier;
  if (is_one_of("Bcast", "Scatter", "Scatterv")) return CollectiveKind::kFromRoot;
  if (is_one_of("Reduce", "Gather", "Gatherv")) return CollectiveKind::kToRoot;
  if (is_one_of("Scan", "Exscan")) return CollectiveKind::kFromLower;
  if (is_one_of("Allreduce", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Reduce_scatter",
                "Reduce_scatter_block"))
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

// Starts an operation that another call completes.
[[nodiscard]] constexpr bool is_nonblocking(std::uint32_t function) {
  return function < vmpi::kFunctionCount && vmpi::kFunctionTraits[function].starts_request;
}

}  // namespace ardoise::knowledge_sources
