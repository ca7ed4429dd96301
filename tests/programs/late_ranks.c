// Ranks that come late to collectives, by sleeping, so that processors are free:
//   late_ranks wait_nxn|wait_barrier|late_broadcast|early_reduce|early_scan FILE
// Rank 0 prints what the waiting must be: "truth LEAST MOST OCCURRENCES", in seconds. A rank's entry lies between two
// readings of its clock, before the call and in the MPI library: it may lose its processor between them. The late rank
// sleeps when all others are inside, which they say in FILE, mapped by all: so the occurrences are exact.
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/late_ranks_inside.h"

enum { kSteps = 20, kLate = 8 /* ms */, kRanks = 64 };

typedef struct {
  double before, inside;
} Entry;

static Entry entries[kSteps];
static int rank, step;
static atomic_int* steps_entered;  // of each rank

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

static void note_inside(void) {
  entries[step].inside = now();
  steps_entered[rank] = step + 1;
}

static void await_others(int size) {
  for (int other = 0; other < size; ++other)
    while (other != rank && steps_entered[other] <= step) sleep_ms(1);
}

static atomic_int* map_file(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, kRanks * sizeof(atomic_int)) != 0) return NULL;
  void* const memory = mmap(NULL, kRanks * sizeof(atomic_int), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? NULL : memory;
}

static __attribute__((noinline)) void meet(const char* pattern, int root) {
  double in = 1, out = 0;
  if (strcmp(pattern, "wait_nxn") == 0) MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (strcmp(pattern, "wait_barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(pattern, "late_broadcast") == 0) MPI_Bcast(&in, 1, MPI_DOUBLE, root, MPI_COMM_WORLD);
  if (strcmp(pattern, "early_reduce") == 0) MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (strcmp(pattern, "early_scan") == 0) MPI_Scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void print_truth(const char* pattern, int late, int size, const Entry* all) {
  double least = 0, most = 0;
  int occurrences = 0;
  for (step = 0; step < kSteps; ++step) {
    const Entry* const awaited = all + late * kSteps + step;
    for (int each = 0; each < size; ++each) {
      if (each == late || (strcmp(pattern, "early_reduce") == 0 && each != 0)) continue;
      const Entry* const entry = all + each * kSteps + step;
      least += awaited->before - entry->inside;
      most += awaited->inside - entry->before;
      ++occurrences;
    }
  }
  printf("truth %.9f %.9f %d\n", least, most, occurrences);
}

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const pattern = argc > 1 ? argv[1] : "wait_nxn";
  const int late = strcmp(pattern, "early_scan") == 0 ? 0 : size - 1;
  steps_entered = argc > 2 && size <= kRanks ? map_file(argv[2]) : NULL;
  if (!steps_entered) {
    fprintf(stderr, "late_ranks PATTERN FILE, for at most %d ranks\n", kRanks);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  late_ranks_inside = note_inside;
  for (step = 0; step < kSteps; ++step) {
    if (rank == late) {
      await_others(size);
      sleep_ms(kLate);
    }
    entries[step].before = now();
    meet(pattern, late);
  }
  late_ranks_inside = NULL;
  if (rank != 0) {
    MPI_Send(entries, sizeof entries, MPI_BYTE, 0, 9, MPI_COMM_WORLD);
  } else {
    Entry* const all = calloc((size_t)size * kSteps, sizeof *all);
    memcpy(all, entries, sizeof entries);
    for (int other = 1; other < size; ++other)
      MPI_Recv(all + other * kSteps, sizeof entries, MPI_BYTE, other, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    print_truth(pattern, late, size, all);
    free(all);
  }
  MPI_Finalize();
  return 0;
}
