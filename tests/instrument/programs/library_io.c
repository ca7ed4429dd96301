/* One rank; its I/O is that of its library (mpi_application.c), on a file in TEST_DIRECTORY. MPI's own I/O beside it:
 * a file written by MPI_File_write. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int mpi_application_write(const char* path, int times);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  char path[4096];
  snprintf(path, sizeof(path), "%s/own", getenv("TEST_DIRECTORY"));
  if (mpi_application_write(path, 10) != 0) return 1;
  snprintf(path, sizeof(path), "%s/by_mpi", getenv("TEST_DIRECTORY"));
  MPI_File file;
  char block[500] = {0};
  if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS)
    return 1;
  MPI_File_write(file, block, sizeof(block), MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
