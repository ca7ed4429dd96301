/* Ends as its first argument says: "abort" with MPI_Abort(37) on rank 1 while rank 0 waits, "zero" with MPI_Abort(0), "self"
 * likewise on MPI_COMM_SELF with 7, "half" on a communicator of the odd ranks with 4, "exit" with status 5 after MPI_Finalize, "leave" with _Exit(6) and "return" with status 4 and no
 * MPI_Finalize at all, "signal" by abort() and "kill" by SIGKILL on rank 1 while rank 0 waits, "first" at once, "wait"
 * never, with a file made when rank 0 begins to wait, "last" after the second that another program needs to be gone, with a file and a window made then. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void use_files_and_windows(const char* path) {
  int rank, sum = 0, value, *memory;
  MPI_File file;
  MPI_Win window;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  value = rank + 1;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  MPI_File_read_at_all(file, (MPI_Offset)sizeof(int), &sum, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  *memory = sum;
  MPI_Win_free(&window);
  printf("rank %d: %d\n", rank, sum);
}

/* On rank 1 alone. */
static const char* const kWaitingEnds[] = {"abort", "zero", "self", "half", "signal", "kill", "wait"};

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  const int is_first = strcmp(how, "first") == 0;
  int rank, level, waits = 0;
  MPI_Comm half;
  if (is_first) MPI_T_init_thread(MPI_THREAD_SINGLE, &level); /* Open MPI reads its parameters, earlier than MPI_Init */
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  if (rank == 1) {
    if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 37);
    if (strcmp(how, "zero") == 0) MPI_Abort(MPI_COMM_WORLD, 0);
    if (strcmp(how, "half") == 0) MPI_Abort(half, 4);
    if (strcmp(how, "self") == 0) MPI_Abort(MPI_COMM_SELF, 7);
    if (strcmp(how, "signal") == 0) abort();
    if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  }
  if (rank == 0 && strcmp(how, "wait") == 0 && argc > 2) fclose(fopen(argv[2], "w"));
  for (int i = 0; i < 7; ++i) waits |= strcmp(how, kWaitingEnds[i]) == 0;
  if (waits)
    MPI_Recv(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strcmp(how, "leave") == 0) _Exit(6);
  if (strcmp(how, "last") == 0 && argc > 2) {
    sleep(1);
    use_files_and_windows(argv[2]);
  }
  if (strcmp(how, "return") == 0) return 4;
  MPI_Finalize();
  return strcmp(how, "exit") == 0 ? 5 : 0;
}
