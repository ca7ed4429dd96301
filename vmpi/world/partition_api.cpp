// The C functions of vmpi.h on errors and partitions; contracts are in the header.
#include <iterator>

#include "vmpi/vmpi.h"
#include "vmpi/world/partitions.hpp"

using namespace ardoise::vmpi;

const char* VMPI_Error_string(int code) {
  static constexpr const char* kMeanings[] = {
      "success",
      "nothing available now, try again",
      "an argument is out of its range",
      "called at the wrong time (before MPI_Init, after MPI_Finalize, or on a closed stream)",
      "out of memory",
      "an MPI call failed",
      "the two ends of the stream disagree on block size or direction",
      "the map gave a rank out of range or left a process unmapped",
      "a peer went away without opening or closing the stream",
      "a peer did not open the stream in time"};
  static_assert(std::size(kMeanings) == 1 - VMPI_ERR_TIMEOUT, "one for each code");
  if (code > 0) return "no error";
  return code >= VMPI_ERR_TIMEOUT ? kMeanings[-code] : "unknown error code";
}

MPI_Comm VMPI_Comm_universe(void) { return universe_comm(); }

MPI_Comm VMPI_Comm_partition(void) { return partition_comm(); }

int VMPI_Set_partition_name(const char* name) { return set_partition_name(name); }

int VMPI_Get_partition_count(void) {
  const auto* all = partitions();
  return all == nullptr ? VMPI_ERR_STATE : all->table.count();
}

int VMPI_Get_partition_id(void) {
  const auto* all = partitions();
  return all == nullptr ? VMPI_ERR_STATE : all->id;
}

const VMPI_Partition_desc* VMPI_Get_desc_by_name(const char* name) {
  return name == nullptr ? nullptr : partition_descriptor(std::string_view(name));
}

const VMPI_Partition_desc* VMPI_Get_desc_by_id(int id) { return partition_descriptor(id); }

int VMPI_Get_program_count(void) { return partitions() == nullptr ? VMPI_ERR_STATE : program_count(); }

const VMPI_Program_desc* VMPI_Get_program_by_id(int id) { return program_descriptor(id); }

int VMPI_Get_universe_rank(int partition, int rank) {
  const auto* all = partitions();
  if (all == nullptr) return VMPI_ERR_STATE;
  const int universe_rank = all->table.universe_rank(partition, rank);
  return universe_rank < 0 ? VMPI_ERR_ARG : universe_rank;
}
