/* Calls other than messages that a replay must repeat: MPI-IO on files that existed before, and that are opened
   twice; communicators of MPI_Comm_idup; MPI_Improbe.

   mpi_files FOLDER [cancel]: each rank reads its part of FOLDER/input in all ways, one beyond the end of the file; all
   write FOLDER/output, close it, open it again and read it. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kEach = 1000 };

static void check(MPI_Status* status, int expected) {
  int count = 0;
  MPI_Get_count(status, MPI_INT, &count);
  if (count != expected) fprintf(stderr, "%d of %d\n", count, expected), MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  int rank, ranks;
  char path[4096];
  int* numbers = calloc(2 * kEach, sizeof(int));
  MPI_File file;
  MPI_Status status;
  MPI_Request request;
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(path, sizeof path, "%s/input", argv[1]);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_File_read_at(file, (MPI_Offset)(rank * kEach * sizeof(int)), numbers, kEach, MPI_INT, &status);
  check(&status, kEach);
  MPI_File_iread_at(file, (MPI_Offset)(rank * kEach * sizeof(int)), numbers, kEach, MPI_INT, &request);
  MPI_Wait(&request, &status);
  check(&status, kEach);
  MPI_File_set_view(file, (MPI_Offset)(rank * kEach * sizeof(int)), MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_read(file, numbers, kEach / 2, MPI_INT, &status);
  check(&status, kEach / 2);
  MPI_File_read_all(file, numbers, kEach / 2, MPI_INT, &status);
  check(&status, kEach / 2);
  /* 300 are left. Open MPI's status of a collective read does not tell. */
  MPI_File_read_at_all(file, (ranks - rank) * kEach - 300, numbers, kEach, MPI_INT, &status);
  MPI_File_close(&file);

  snprintf(path, sizeof path, "%s/output", argv[1]);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, (MPI_Offset)(rank * kEach * sizeof(int)), numbers, kEach, MPI_INT, &status);
  MPI_File_close(&file);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_File_read_ordered(file, numbers, kEach, MPI_INT, &status);
  check(&status, kEach);
  MPI_File_close(&file);

  MPI_Comm duplicate;
  MPI_Comm_idup(MPI_COMM_WORLD, &duplicate, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allreduce(MPI_IN_PLACE, numbers, 1, MPI_INT, MPI_SUM, duplicate);
  int found = 0;
  MPI_Message message;
  MPI_Improbe(MPI_ANY_SOURCE, 5, duplicate, &found, &message, &status);
  if (found) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Barrier(duplicate);
  MPI_Send(numbers, 1, MPI_INT, (rank + 1) % ranks, 5, duplicate);
  MPI_Probe(MPI_ANY_SOURCE, 5, duplicate, &status);
  MPI_Improbe(MPI_ANY_SOURCE, 5, duplicate, &found, &message, &status);
  if (!found) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Mrecv(numbers, 1, MPI_INT, &message, &status);
  MPI_Comm_free(&duplicate);
  if (argc > 2) {
    MPI_Irecv(numbers, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free(numbers);
  MPI_Finalize();
  return 0;
}
