// The partitions of this launch: made once while MPI_Init runs, read by everything else in vmpi and above.
// The MPI_Init wrapper calls initialise_partitions right after the real call, the MPI_Finalize wrapper calls
// finalise_partitions right before it. Only PMPI functions are called inside, so wrappers see nothing of it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string_view>

#include "vmpi/vmpi.h"
#include "vmpi/world/partition_table.hpp"

namespace ardoise::vmpi {

// Collective over the real MPI_COMM_WORLD, O(processes) bytes for each process. argc and argv are those of MPI_Init and
// may be 0 and nullptr; the command line is read from the system then. false: something failed in a process, which said
// so in one sentence on standard error, and all processes get false: the launch has one program, which runs in the real
// world. A launch of several programs ends here then.
bool initialise_partitions(int argc, char** argv) noexcept;

// What MPI_COMM_WORLD stands for; MPI_COMM_NULL outside of initialise ... finalise. One relaxed load: wrappers use it
// at every call. It keeps its handle for the whole time.
MPI_Comm partition_comm() noexcept;

// A duplicate of the real world, for traffic between partitions; MPI_COMM_NULL as above. Not the handle MPI_COMM_WORLD,
// which wrappers translate.
MPI_Comm universe_comm() noexcept;

// Another duplicate, for the messages of maps and streams, which no program sees; it returns errors.
MPI_Comm control_comm() noexcept;

// Frees what is free-able locally; doesn't wait for other partitions. Delete callbacks of attributes that the program
// set on its world run here.
void finalise_partitions() noexcept;

// Between initialise and finalise: the table and this process's place in it. nullptr otherwise.
struct Partitions {
  PartitionTable table;
  int universe_rank = 0;
  int universe_size = 1;
  int id = 0;    // this process's partition
  int rank = 0;  // in it
};
const Partitions* partitions() noexcept;

// A process of the universe as is_running() of process_identity.hpp takes it; 0: it can't be watched from here.
std::int64_t watchable_process(int universe_rank) noexcept;

// Descriptors, for the C API; nullptr: not there.
const VMPI_Partition_desc* partition_descriptor(int id) noexcept;
const VMPI_Partition_desc* partition_descriptor(std::string_view name) noexcept;
int program_count() noexcept;
const VMPI_Program_desc* program_descriptor(int id) noexcept;

// `ardoise` names partitions by variables that the programs do not see: takes the name and removes them. Before MPI_Init.
void take_name_of_launcher() noexcept;

// Explicit name, before initialise_partitions. Returns VMPI_ERR_STATE afterwards, VMPI_ERR_ARG for a bad name, in which
// case the default name stays.
int set_partition_name(const char* name) noexcept;

// The explicit name that set_partition_name or the environment asks for, checked or not; "": none. Before MPI_Init.
std::string_view requested_partition_name() noexcept;

}  // namespace ardoise::vmpi
