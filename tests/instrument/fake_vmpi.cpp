// The parts of vmpi to which instrument/process refers, for test programs of one process that never start MPI: there is
// no analyzer, and each stream refuses.
#include "vmpi/loader/exec_observer.hpp"
#include "vmpi/streams/open_streams.hpp"
#include "vmpi/vmpi.h"

extern "C" {

MPI_Comm VMPI_Comm_universe(void) { return MPI_COMM_WORLD; }
MPI_Comm VMPI_Comm_partition(void) { return MPI_COMM_WORLD; }
int VMPI_Get_partition_id(void) { return 0; }
const VMPI_Partition_desc* VMPI_Get_desc_by_name(const char*) { return nullptr; }
int VMPI_Get_program_count(void) { return 0; }
const VMPI_Program_desc* VMPI_Get_program_by_id(int) { return nullptr; }
int VMPI_Map_clear(VMPI_Map*) { return VMPI_SUCCESS; }
int VMPI_Map_free(VMPI_Map*) { return VMPI_SUCCESS; }
int VMPI_Map_partitions(int, VMPI_Map_policy, VMPI_Map*) { return VMPI_ERR_ARG; }
int VMPI_Stream_init(VMPI_Stream*, size_t, VMPI_Stream_balance) { return VMPI_ERR_ARG; }
int VMPI_Stream_open_map(VMPI_Stream*, const VMPI_Map*, const char*) { return VMPI_ERR_ARG; }
int VMPI_Stream_lend(VMPI_Stream*, void*, size_t) { return VMPI_ERR_ARG; }
int VMPI_Stream_reclaim(VMPI_Stream*, void**, int) { return VMPI_ERR_ARG; }
int VMPI_Stream_close(VMPI_Stream*) { return VMPI_SUCCESS; }

}  // extern "C"

namespace ardoise::vmpi {

void observe_exec(const ExecObserver&) noexcept {}
void mark_as_tool_stream(const VMPI_Stream&, std::chrono::nanoseconds) noexcept {}

}  // namespace ardoise::vmpi
