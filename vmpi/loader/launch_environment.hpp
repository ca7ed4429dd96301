// Corrects the launch variables of the environment. Open MPI (OMPI_COMM_WORLD_RANK, _SIZE, OMPI_NUM_APP_CTX ...) and
// Hydra, the launcher of MPICH (PMI_RANK, PMI_SIZE, MPI_LOCALRANKID ...) describe the whole launch there. Programs read
// them, even before MPI_Init, to choose a device or a file by rank, and expect a launch of their own. In a preloaded
// process the variables describe the program alone: from process start as far as the environment allows, exactly after
// MPI_Init. During the real MPI_Init the library sees the original values. Under any other launcher nothing changes.
#pragma once

#include <string>
#include <vector>

namespace ardoise::vmpi {

// Hydra's variables do not give the ranks of a program; `ardoise` adds this one: "first rank,processes,processes of the
// launch,connection". `connection` is the Hydra connection of the process whose variables describe the program alone by
// now; processes of a nested launch compare it, to leave inherited values alone. Removed after MPI_Init.
inline constexpr const char* kOwnRanksVariable = "VMPI_OWN_RANKS";
inline constexpr const char* kNoConnection = "0000000000000000";

// `ardoise` joins contexts of the launch line in one world by two variables, VMPI_PARTITION_NAME and this one, which
// lists the numbers of all contexts of that world ("0,1"). Both are removed after MPI_Init.
inline constexpr const char* kPartitionContextsVariable = "VMPI_PARTITION_CONTEXTS";

// `ardoise` sets this one in the programs if they have a slot for each rank, but not the analyzers, too. Then Open MPI's
// daemon has set OMPI_MCA_mpi_oversubscribe, and ranks would yield in every wait: as the preloaded library is loaded, it
// takes that back. Removed before MPI_Init.
inline constexpr const char* kSlotsSufficeVariable = "VMPI_SLOTS_SUFFICE";

// One program's launch, as one of its processes sees it.
struct OwnLaunch {
  int rank = 0;
  int size = 0;
  int local_rank = 0;
  int local_size = 0;         // 0: local rank and size are unknown
  std::vector<int> contexts;  // number of processes of each app context
};

// Reads the variables of a launch of several programs; on several nodes they do not give local ranks. False: they are
// incomplete, or nothing has to change. `variable` returns the value of a variable, nullptr when it is not set.
bool read_own_launch(const char* (*variable)(const char* name), OwnLaunch& launch);

// Names and values of the variables that describe the launch.
std::vector<std::pair<std::string, std::string>> describe(const OwnLaunch& launch);

// The same for Hydra, with the values that restore them in the process with this connection; empty: the variables are
// right.
std::vector<std::pair<std::string, std::string>> describe_for_hydra(const OwnLaunch& launch);
std::vector<std::pair<std::string, std::string>> truth_of_hydra(const char* (*variable)(const char* name),
                                                                const std::string& connection);

// True: LD_PRELOAD named one of our libraries when this library was loaded.
[[nodiscard]] bool is_preloaded() noexcept;

// The launch has several app contexts, or another process spawned this one: from the environment, at any time.
[[nodiscard]] bool is_one_of_several() noexcept;
[[nodiscard]] bool is_spawned_job() noexcept;

// Before the real MPI_Init: the variables describe the whole launch again.
void restore_launch_environment() noexcept;

// After the real MPI_Init, in a program with a world of its own.
void describe_own_launch(const OwnLaunch& launch) noexcept;

}  // namespace ardoise::vmpi
