// Wait dependencies of collectives by function.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "vmpi/mpi_functions.hpp"

namespace ardoise::knowledge_sources {

enum class CollectiveKind : std::uint8_t {
  kNone,        // no collective on a communicator, or one without a place in the order of its calls
  kUnjudged,    // has a place in that order, but unknown wait dependencies
  kNeighbours,  // each waits for the neighbours that send to it
  kBarrier,     // all wait for all
  kAllToAll,    // all wait for all, with data
  kFromRoot,    // all wait for the root
  kToRoot,      // the root waits for all
  kFromLower,   // each waits for those of lower rank
  // All wait for all, if the library synchronises them:
  kObject,  // creates a communicator
  kWindow,  // creates, frees or fences a window
  kFile,    // of MPI-IO
  kInit,
  kFinalize
};

[[nodiscard]] constexpr bool is_of_life(CollectiveKind kind) { return kind >= CollectiveKind::kInit; }
[[nodiscard]] constexpr bool may_not_wait(CollectiveKind kind) { return kind >= CollectiveKind::kObject; }

namespace detail {

// Compares without the case of the first letter.
constexpr bool is_same_word(std::string_view word, std::string_view other) {
  return word.size() == other.size() && !word.empty() && (word[0] | 0x20) == (other[0] | 0x20) &&
         word.substr(1) == other.substr(1);
}

// For functions that are not collectives by their role.
constexpr CollectiveKind kind_by_name(std::string_view name, bool of_file_data) {
  const auto is_one_of = [&](auto... names) { return ((name == names) || ...); };
  if (is_one_of("Comm_dup", "Comm_dup_with_info", "Comm_idup", "Comm_idup_with_info", "Comm_split", "Comm_split_type",
                "Comm_create", "Cart_create", "Cart_sub", "Graph_create", "Dist_graph_create",
                "Dist_graph_create_adjacent", "Intercomm_create", "Intercomm_merge"))
    return CollectiveKind::kObject;
  if (is_one_of("Win_create", "Win_create_dynamic", "Win_allocate", "Win_allocate_shared", "Win_fence", "Win_free"))
    return CollectiveKind::kWindow;
  if (is_one_of("File_open", "File_close", "File_set_size", "File_preallocate", "File_set_view", "File_sync",
                "File_set_atomicity"))
    return CollectiveKind::kFile;
  if (of_file_data && (name.ends_with("_all") || name.ends_with("_ordered"))) return CollectiveKind::kFile;
  return CollectiveKind::kNone;
}

constexpr CollectiveKind kind_of(const vmpi::FunctionTraits& function) {
  using vmpi::Role;
  std::string_view name = function.name;
  name.remove_prefix(std::string_view("MPI_").size());
  if (name.ends_with("_c")) name.remove_suffix(2);
  if (name == "Init" || name == "Init_thread") return CollectiveKind::kInit;
  if (name == "Finalize") return CollectiveKind::kFinalize;
  const bool of_file_data = function.role == Role::kFileRead || function.role == Role::kFileWrite;
  if (of_file_data || function.role == Role::kLocal || function.role == Role::kWindow)
    return kind_by_name(name, of_file_data);
  if (function.role == Role::kNeighbour)
    return function.persistent ? CollectiveKind::kNone : CollectiveKind::kNeighbours;
  if (function.role != Role::kCollective && function.role != Role::kRooted) return CollectiveKind::kNone;
  if (function.persistent) return CollectiveKind::kNone;
  if (function.starts_request) name.remove_prefix(1);  // "Ibarrier"
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

// function: unchecked number from outside.
[[nodiscard]] constexpr CollectiveKind collective_kind(std::uint32_t function) {
  return function < detail::kCollectiveKinds.size() ? detail::kCollectiveKinds[function] : CollectiveKind::kNone;
}

// MPI requires all ranks of a communicator to make calls of one kind in the same order: collectives, those on its
// windows, those on its files.
inline constexpr unsigned kCallOrders = 3;
[[nodiscard]] constexpr unsigned call_order(CollectiveKind kind) {
  return kind == CollectiveKind::kWindow ? 1 : kind == CollectiveKind::kFile ? 2 : 0;
}

// Starts an operation that another call completes.
[[nodiscard]] constexpr bool is_nonblocking(std::uint32_t function) {
  return function < vmpi::kFunctionCount && vmpi::kFunctionTraits[function].starts_request;
}

}  // namespace ardoise::knowledge_sources
