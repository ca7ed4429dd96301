// What the environment says about the launch. Open MPI describes the whole launch there (OMPI_COMM_WORLD_RANK, _SIZE,
// OMPI_NUM_APP_CTX ...), and so does Hydra, the launcher of MPICH (PMI_RANK, PMI_SIZE, MPI_LOCALRANKID ...); a program
// reads it, also before MPI_Init, to choose a device or a file by its rank, and expects a launch of its own. In a
// process that has us preloaded the variables describe the program alone: as far as the environment itself tells it
// when the process starts, exactly after MPI_Init. During the real MPI_Init the library finds the truth. Nothing of
// this where neither of them launched the process.
#pragma once

#include <string>
#include <vector>

namespace ardoise::vmpi {

// Hydra's variables do not tell where a program begins and ends; `ardoise` adds this one, "first
// rank,processes,processes of the launch,connection". The connection to Hydra is that of the process whose variables
// describe the program alone by now, which processes of a launch within the launch must not take for theirs. It is gone
// after MPI_Init.
inline constexpr const char* kOwnRanksVariable = "VMPI_OWN_RANKS";
inline constexpr const char* kNoConnection = "0000000000000000";

// `ardoise` joins contexts of the launch line in one world by two variables, VMPI_PARTITION_NAME and this one: the
// numbers of all contexts of that world, "0,1". They are gone after MPI_Init.
inline constexpr const char* kPartitionContextsVariable = "VMPI_PARTITION_CONTEXTS";

// One program's launch, as one of its processes sees it.
struct OwnLaunch {
  int rank = 0;
  int size = 0;
  int local_rank = 0;
  int local_size = 0;         // 0: neither is known
  std::vector<int> contexts;  // processes of each of its app contexts
};

// From the variables of a launch of several programs. On several nodes they do not tell the local ranks. False: they
// don't tell, or there is nothing to change. `variable` gives the value of a variable, nullptr when it is not set.
bool read_own_launch(const char* (*variable)(const char* name), OwnLaunch& launch);

// Names and values of the variables that describe it.
std::vector<std::pair<std::string, std::string>> describe(const OwnLaunch& launch);

// Those of Hydra, and what restores them in the process with this connection; nothing: they tell the truth.
std::vector<std::pair<std::string, std::string>> describe_for_hydra(const OwnLaunch& launch);
std::vector<std::pair<std::string, std::string>> truth_of_hydra(const char* (*variable)(const char* name),
                                                                const std::string& connection);

// The process has one of our libraries in LD_PRELOAD; as it was when the library was loaded.
[[nodiscard]] bool is_preloaded() noexcept;

// The launch has several app contexts, or this process was spawned by another: from the environment, at any time.
[[nodiscard]] bool is_one_of_several() noexcept;
[[nodiscard]] bool is_spawned_job() noexcept;

// Before the real MPI_Init: what the library may read describes the whole launch again.
void restore_launch_environment() noexcept;

// After it, in a program with a world of its own.
void describe_own_launch(const OwnLaunch& launch) noexcept;

}  // namespace ardoise::vmpi
