// Ranks that come late to collectives, by sleeping, so that processors are free:
//   late_ranks wait_nxn|wait_barrier|late_broadcast|early_reduce|early_scan
// Rank 0 prints what the waiting must be, from when all ranks entered by their own clocks: "truth SECONDS OCCURRENCES".
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kSteps = 20, kLate = 8 };  // ms

static void sleep_ms(long ms) {
  const struct timespec time = {0, ms * 1000000L};
  nanosleep(&time, NULL);
}

// One clock for all processes of a machine; MPI_Wtime need not be.
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int late_rank(const char* pattern, int size) { return strcmp(pattern, "early_scan") == 0 ? 0 : size - 1; }

static __attribute__((noinline)) void meet(const char* pattern, int root) {
  double in = 1, out = 0;
  if (strcmp(pattern, "wait_nxn") == 0) MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (strcmp(pattern, "wait_barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(pattern, "late_broadcast") == 0) MPI_Bcast(&in, 1, MPI_DOUBLE, root, MPI_COMM_WORLD);
  if (strcmp(pattern, "early_reduce") == 0) MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (strcmp(pattern, "early_scan") == 0) MPI_Scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

// Steps are kept apart by messages, which are no collectives.
static void keep_apart(int rank, int size) {
  for (int round = 0; round < 2; ++round) {
    if (rank == 0) {
      for (int other = 1; other < size; ++other)
        MPI_Recv(NULL, 0, MPI_INT, other, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int other = 1; other < size; ++other) MPI_Send(NULL, 0, MPI_INT, other, round, MPI_COMM_WORLD);
    } else {
      MPI_Send(NULL, 0, MPI_INT, 0, round, MPI_COMM_WORLD);
      MPI_Recv(NULL, 0, MPI_INT, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const pattern = argc > 1 ? argv[1] : "wait_nxn";
  const int late = late_rank(pattern, size);
  double entered[kSteps];
  for (int step = 0; step < kSteps; ++step) {
    keep_apart(rank, size);
    if (rank == late) sleep_ms(kLate);
    entered[step] = now();
    meet(pattern, late);
  }
  if (rank != 0) {
    MPI_Send(entered, kSteps, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);
  } else {
    double* all = calloc((size_t)size * kSteps, sizeof *all);
    memcpy(all, entered, sizeof entered);
    for (int other = 1; other < size; ++other)
      MPI_Recv(all + other * kSteps, kSteps, MPI_DOUBLE, other, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double truth = 0;
    int occurrences = 0;
    for (int step = 0; step < kSteps; ++step) {
      for (int each = 0; each < size; ++each) {
        if (each == late || (strcmp(pattern, "early_reduce") == 0 && each != 0)) continue;
        truth += all[late * kSteps + step] - all[each * kSteps + step];
        ++occurrences;
      }
    }
    printf("truth %.9f %d\n", truth, occurrences);
    free(all);
  }
  MPI_Finalize();
  return 0;
}
