#include "instrument/record/mpi_queries.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "instrument/record/type_text.hpp"
#include "vmpi/vmpi.h"

namespace ardoise::instrument {
namespace {

std::int64_t received_bytes(const MPI_Status& status) {
  MPI_Count bytes = 0;
  if (PMPI_Get_elements_x(&status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes == MPI_UNDEFINED) return 0;
  return static_cast<std::int64_t>(bytes);
}

bool is_cancelled(const MPI_Status& status) {
  int flag = 0;
  return PMPI_Test_cancelled(&status, &flag) == MPI_SUCCESS && flag != 0;
}

std::vector<std::int32_t> world_ranks(MPI_Group group) {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size)), world(own.size(), kNoPeer);
  std::iota(own.begin(), own.end(), 0);
  MPI_Group world_group = MPI_GROUP_NULL;
  PMPI_Comm_group(VMPI_Comm_partition(), &world_group);
  PMPI_Group_translate_ranks(group, size, own.data(), world_group, world.data());
  PMPI_Group_free(&world_group);
  for (int& rank : world) {
    if (rank < 0) rank = kNoPeer;  // MPI_UNDEFINED: in another program
  }
  return {world.begin(), world.end()};
}

std::vector<TopologyDimension> cartesian_of(MPI_Comm comm) {
  int status = MPI_UNDEFINED, count = 0;
  PMPI_Topo_test(comm, &status);
  if (status != MPI_CART || PMPI_Cartdim_get(comm, &count) != MPI_SUCCESS || count <= 0) return {};
  std::vector<int> extents(static_cast<std::size_t>(count)), periods(extents), coordinates(extents);
  PMPI_Cart_get(comm, count, extents.data(), periods.data(), coordinates.data());
  std::vector<TopologyDimension> dimensions;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    dimensions.push_back({static_cast<std::uint32_t>(extents[i]), periods[i] != 0 ? 1u : 0u});
  }
  return dimensions;
}

CommunicatorFacts describe(MPI_Comm comm) {
  CommunicatorFacts facts;
  int is_inter = 0, rank = 0, length = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  PMPI_Comm_rank(comm, &rank);
  facts.rank = static_cast<std::uint32_t>(rank);
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  facts.local = world_ranks(group);
  PMPI_Group_free(&group);
  if (is_inter != 0) {
    facts.kind = CommunicatorKind::kInter;
    PMPI_Comm_remote_group(comm, &group);
    facts.remote = world_ranks(group);
    PMPI_Group_free(&group);
  } else {
    facts.cartesian = cartesian_of(comm);
  }
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  PMPI_Comm_get_name(comm, name.data(), &length);
  facts.name = comm == VMPI_Comm_partition() ? "MPI_COMM_WORLD" : std::string(name.data());
  return facts;
}

std::size_t window_ranks(MPI_Win window, MPI_Group group, std::size_t first, std::span<int> ranks) {
  int size = 0;
  PMPI_Group_size(group, &size);
  const std::size_t all = size > 0 ? static_cast<std::size_t>(size) : 0;
  const std::size_t count = std::min(ranks.size(), all - std::min(all, first));
  std::array<int, 64> own{};
  if (count == 0 || count > own.size()) return 0;
  std::iota(own.begin(), own.end(), static_cast<int>(first));
  MPI_Group of_window = MPI_GROUP_NULL;
  if (PMPI_Win_get_group(window, &of_window) != MPI_SUCCESS) return 0;
  PMPI_Group_translate_ranks(group, static_cast<int>(count), own.data(), of_window, ranks.data());
  PMPI_Group_free(&of_window);
  return count;
}

// In Open MPI every request begins with the same structure. One word in it is 0 or the address of a waiter until the
// request is complete, then 1 (ompi/request/request.h, releases 2 to 5). The word's offset depends on the release and
// its build. 0: not found.
constexpr std::size_t kWordsOfRequest = 18;
constinit std::atomic<std::size_t> completion_word = 0;
using RequestWords = std::array<std::uint64_t, kWordsOfRequest>;

std::optional<bool> is_complete(std::uint64_t request) {
  const std::size_t word = completion_word.load(std::memory_order_relaxed);
  if (word == 0) return std::nullopt;
  return reinterpret_cast<const volatile std::uint64_t*>(request)[word] == 1;
}

// Handle: MPI_Request, which is a pointer in Open MPI.
template <class Handle>
void learn_completion_of(Handle request) {
  if constexpr (std::is_pointer_v<Handle>) {
    const auto query = [](void*, MPI_Status* status) -> int {
      *status = {};
      return MPI_SUCCESS;
    };
    const auto release = [](void*) -> int { return MPI_SUCCESS; };
    const auto cancel = [](void*, int) -> int { return MPI_SUCCESS; };
    if (PMPI_Grequest_start(query, release, cancel, nullptr, &request) != MPI_SUCCESS) return;
    RequestWords before, after;
    std::memcpy(before.data(), static_cast<const void*>(request), sizeof before);
    PMPI_Grequest_complete(request);
    std::memcpy(after.data(), static_cast<const void*>(request), sizeof after);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    std::size_t found = 0, count = 0;
    for (std::size_t word = 0; word < kWordsOfRequest; ++word) {
      if (before[word] != 0 || after[word] != 1) continue;
      found = word;
      ++count;
    }
    if (count == 1) completion_word.store(found, std::memory_order_relaxed);
  }
}

}  // namespace

void learn_completion() { learn_completion_of(MPI_REQUEST_NULL); }

MpiQueries mpi_queries() {
#ifdef OPEN_MPI
  constexpr bool kHasZeroStatuses = false;
#else
  constexpr bool kHasZeroStatuses = true;
#endif
  return {received_bytes, is_cancelled, describe, window_ranks, describe_type, is_complete, kHasZeroStatuses};
}

std::uint64_t find_shared_request() {
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  for (MPI_Request& request : requests) {
    if (PMPI_Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request) != MPI_SUCCESS) return 0;
  }
  const std::uint64_t shared = requests[0] == requests[1] ? handle_value(requests[0]) : 0;
  PMPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  return shared;
}

}  // namespace ardoise::instrument
