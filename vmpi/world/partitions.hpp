// The partitions of this launch: made once in MPI_Init, then read by vmpi and the layers above. The MPI_Init wrapper
// calls initialise_partitions right after the real call, the MPI_Finalize wrapper finalise_partitions right before it.
// Both call only PMPI functions, which wrappers do not see.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string_view>

#include "vmpi/vmpi.h"
#include "vmpi/world/partition_table.hpp"

namespace ardoise::vmpi {

// Collective over the real MPI_COMM_WORLD; O(processes) bytes for each process. argc and argv are those of MPI_Init;
// for 0 and nullptr the command line is read from the system. false, in all processes: one of them failed and said so
// in one sentence on standard error, and the launch has one program, which runs in the real world. A launch of several
// programs is aborted on failure.
bool initialise_partitions(int argc, char** argv) noexcept;

// The communicator behind MPI_COMM_WORLD, constant from initialise to finalise; MPI_COMM_NULL otherwise. One relaxed
// load: wrappers use it in every call.
MPI_Comm partition_comm() noexcept;

// A duplicate of the real world for traffic between partitions; MPI_COMM_NULL outside initialise ... finalise. The
// handle MPI_COMM_WORLD itself would be translated by wrappers.
MPI_Comm universe_comm() noexcept;

// Another duplicate, hidden from programs, for messages of maps and streams; it returns errors.
MPI_Comm control_comm() noexcept;

// Frees local resources without waiting for other partitions. Delete callbacks of attributes of the program's world run
// here.
void finalise_partitions() noexcept;

// The table and this process's place in it. nullptr outside initialise ... finalise.
struct Partitions {
  PartitionTable table;
  int universe_rank = 0;
  int universe_size = 1;
  int id = 0;    // this process's partition
  int rank = 0;  // in it
};
const Partitions* partitions() noexcept;

// The watch handle of a process for is_running() of process_identity.hpp; 0: it cannot be watched from here.
std::int64_t watchable_process(int universe_rank) noexcept;

// Descriptors for the C API; nullptr: no such partition or program.
const VMPI_Partition_desc* partition_descriptor(int id) noexcept;
const VMPI_Partition_desc* partition_descriptor(std::string_view name) noexcept;
int program_count() noexcept;
const VMPI_Program_desc* program_descriptor(int id) noexcept;

// `ardoise` names partitions by variables that programs must not see: reads and removes them. Before MPI_Init.
void take_name_of_launcher() noexcept;

// Explicit name, before initialise_partitions. Returns VMPI_ERR_STATE afterwards, VMPI_ERR_ARG for an invalid name,
// which leaves the default name.
int set_partition_name(const char* name) noexcept;

// The explicit name requested by set_partition_name or the environment, valid or not; "": none. Before MPI_Init.
std::string_view requested_partition_name() noexcept;

}  // namespace ardoise::vmpi
