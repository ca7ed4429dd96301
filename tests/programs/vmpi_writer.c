/* Figure 11 of the paper on the online analysis server, its spelling mended: an instrumented program that is coupled to
 * the partition "Analyzer" and streams blocks to it. The number of blocks may be given. Prints its world's size, which
 * is that of its own partition. Used by tests/vmpi. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <vmpi/vmpi.h>

int main(int argc, char** argv) {
  const int blocks = argc > 1 ? atoi(argv[1]) : 1024;
  int rank, size;
  MPI_Init(&argc, &argv);
  /* Fill in mapping data */
  VMPI_Map map;
  VMPI_Map_clear(&map);
  /* Retrieve analyzer partition */
  const VMPI_Partition_desc* pan = VMPI_Get_desc_by_name("Analyzer");
  /* Could not find analyzer */
  if (!pan) {
    printf("Could not locate analyzer partition\n");
    exit(1);
  }
  /* Map to analyzer */
  VMPI_Map_partitions(pan->id, VMPI_MAP_ROUND_ROBIN, &map);
  /* Setup stream */
  VMPI_Stream st;
  /* Initialize stream */
  VMPI_Stream_init(&st, 1024 * 1024, VMPI_STREAM_BALANCE_ROUND_ROBIN);
  /* Create streams according to mapping */
  VMPI_Stream_open_map(&st, &map, "w");
  void* buff = calloc(1024 * 1024, 1);
  /* Send some data */
  int i;
  for (i = 0; i < blocks; i++) VMPI_Stream_write(&st, buff, 1);
  /* Close stream */
  VMPI_Stream_close(&st);
  free(buff);
  VMPI_Map_free(&map);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0)
    printf("%s: %d processes wrote %d blocks each\n", VMPI_Get_desc_by_id(VMPI_Get_partition_id())->name, size, blocks);
  MPI_Finalize();
  return 0;
}
