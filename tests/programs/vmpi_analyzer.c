/* Figure 12 of the paper on the online analysis server, its spelling mended: an analyzer that is mapped to every other
 * partition of the launch and reads their blocks until all have closed. Prints how many there were. Used by tests/vmpi.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <vmpi/vmpi.h>

int main(int argc, char** argv) {
  long blocks = 0, all_blocks = 0;
  int rank;
  /* Set partition name */
  VMPI_Set_partition_name("Analyzer");
  MPI_Init(&argc, &argv);
  /* Fill in mapping data */
  VMPI_Map map;
  VMPI_Map_clear(&map);
  int i, ret;
  for (i = 0; i < VMPI_Get_partition_count(); i++) {
    /* Map each partition except myself */
    if (i != VMPI_Get_partition_id()) VMPI_Map_partitions(i, VMPI_MAP_ROUND_ROBIN, &map);
  }
  /* Setup stream */
  VMPI_Stream st;
  /* Initialize stream */
  VMPI_Stream_init(&st, 1024 * 1024, VMPI_STREAM_BALANCE_ROUND_ROBIN);
  /* Create streams according to mapping */
  VMPI_Stream_open_map(&st, &map, "r");
  /* Allocate input buffer */
  void* buff = malloc(1024 * 1024);
  /* Start read loop */
  do {
    /* Read one block of 1M from stream */
    ret = VMPI_Stream_read(&st, buff, 1, VMPI_STREAM_NONBLOCK);
    if (ret == VMPI_EAGAIN) continue;
    if (0 < ret) {
      /* Process buffer */
      blocks += ret;
    }
    if (ret < 0) {
      fprintf(stderr, "vmpi_analyzer: the stream failed: %s\n", VMPI_Error_string(ret));
      MPI_Abort(MPI_COMM_UNIVERSE, 1);
    }
    /* 0 means all remote streams are closed */
  } while (ret != 0);
  VMPI_Stream_close(&st);
  free(buff);
  VMPI_Map_free(&map);
  MPI_Reduce(&blocks, &all_blocks, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("Analyzer: %ld blocks\n", all_blocks);
  MPI_Finalize();
  return 0;
}
