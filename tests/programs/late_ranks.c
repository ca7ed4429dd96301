// Ranks that come late to collectives and messages, by sleeping, so that processors are free:
//   late_ranks wait_nxn|neighbours|wait_barrier|late_broadcast|early_reduce|early_scan|nonblocking_collective|late_sender|
//              late_sender_of_many|wrong_order|late_receiver|late_post|early_wait|late_complete|lock|fence FILE
// Rank 0 prints what the waiting must be: "truth LEAST MOST OCCURRENCES", in seconds. A rank's entry lies between two
// readings of its clock, before the call and in the MPI library: it may lose its processor between them. The late rank
// sleeps when all others are inside, which they say in FILE, mapped by all: so the occurrences are exact. No other MPI
// calls are made.
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/late_ranks_inside.h"
#include "tests/programs/late_windows.h"

enum { kSteps = 20, kLate = 8 /* ms */, kRanks = 64 };

typedef struct {
  double before, inside;
} Entry;

typedef struct {
  atomic_int steps_entered, steps_prepared, steps_done;
  Entry entries[kSteps];
} Rank;

static Rank* ranks;  // in FILE
static int rank, size, late, step;
static MPI_Comm star;  // the late rank has all others for neighbours, and these only it
static const char* pattern = "wait_nxn";

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

static int is(const char* name) { return strcmp(pattern, name) == 0; }

static void enter(void) { ranks[rank].entries[step].before = now(); }

// For an operation that another call ends: the late rank's start counts, and the end of the others.
static void note_inside(int starts) {
  if (starts != (rank == late && is("nonblocking_collective"))) return;
  ranks[rank].entries[step].inside = now();
  ranks[rank].steps_entered = step + 1;
}

static int only_rank_0_waits(void) {
  return is("early_reduce") || is("late_sender") || is("late_sender_of_many") || is("wrong_order") ||
         is("late_receiver");
}
static int takes_part(int each) {
  return each == 0 || each == late || !(is("late_sender") || is("wrong_order") || is("late_receiver"));
}

// For the modes with a window: only one call in each step counts.
static void enter_window(void) {
  late_ranks_inside = note_inside;
  enter();
}
static void prepared(void) { ranks[rank].steps_prepared = step + 1; }
static void await_prepared(void) {
  while (ranks[late].steps_prepared <= step) sleep_ms(1);
}
static void done(void) { ranks[rank].steps_done = step + 1; }
static void await_done(void) {
  for (int other = 0; other < size; ++other)
    while (other != rank && ranks[other].steps_done < step) sleep_ms(1);
}

// Waits until all others have entered this many steps.
static void await_others(int steps) {
  for (int other = 0; other < size; ++other)
    while (other != rank && takes_part(other) && ranks[other].steps_entered < steps) sleep_ms(1);
}

static Rank* map_file(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, kRanks * sizeof(Rank)) != 0) return NULL;
  void* const memory = mmap(NULL, kRanks * sizeof(Rank), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? NULL : memory;
}

// Only rank 0 waits for the late one, for a message, or the other way round; the others have sent theirs.
static __attribute__((noinline)) void exchange(void) {
  double data[64] = {0};
  MPI_Request requests[64];
  if (is("wrong_order")) {
    // The first message of the late rank is received last.
    if (rank == 0) {
      MPI_Recv(data, 1, MPI_DOUBLE, late, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      late_ranks_inside = NULL;
      MPI_Recv(data, 1, MPI_DOUBLE, late, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      late_ranks_inside = note_inside;
    } else if (rank == late) {
      MPI_Send(data, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
    }
  } else if (is("late_receiver")) {
    if (rank == 0) MPI_Ssend(data, 64, MPI_DOUBLE, late, 0, MPI_COMM_WORLD);
    if (rank == late) MPI_Recv(data, 64, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (is("late_sender") && rank == 0) {
    MPI_Recv(data, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (is("late_sender_of_many") && rank == 0) {
    for (int other = 1; other < size; ++other)
      MPI_Irecv(data + other, 1, MPI_DOUBLE, other, 7, MPI_COMM_WORLD, &requests[other - 1]);
    enter();
    MPI_Waitall(size - 1, requests, MPI_STATUSES_IGNORE);
  } else if (is("late_sender_of_many") || rank == late) {
    MPI_Send(data, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
  }
}

static __attribute__((noinline)) void meet(void) {
  double in = 1, out = 0, data[2 * kRanks] = {0};
  enter();
  if (is("wait_nxn")) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else if (is("neighbours")) {
    MPI_Neighbor_alltoall(data, 1, MPI_DOUBLE, data + kRanks, 1, MPI_DOUBLE, star);
  } else if (is("wait_barrier")) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is("late_broadcast")) {
    MPI_Bcast(&in, 1, MPI_DOUBLE, late, MPI_COMM_WORLD);
  } else if (is("early_reduce")) {
    MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  } else if (is("early_scan")) {
    MPI_Scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else if (is("nonblocking_collective")) {
    MPI_Request request;
    MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank != late) enter();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    exchange();
  }
}

static void make_star(void) {
  int neighbours[kRanks], count = 0;
  for (int other = 0; other < size; ++other)
    if (other != rank && (rank == late || other == late)) neighbours[count++] = other;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, count, neighbours, MPI_UNWEIGHTED, count, neighbours, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &star);
}

static void print_truth(void) {
  double least = 0, most = 0;
  int occurrences = 0;
  for (step = 0; step < kSteps; ++step) {
    const Entry* const awaited = ranks[late].entries + step;
    for (int each = 0; each < size; ++each) {
      if (each == late || (only_rank_0_waits() && each != 0)) continue;
      const Entry* const entry = ranks[each].entries + step;
      least += awaited->before - entry->inside;
      most += awaited->inside - entry->before;
      ++occurrences;
    }
  }
  printf("truth %.9f %.9f %d\n", least, most, occurrences);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1) pattern = argv[1];
  late = is("early_scan") ? 0 : size - 1;
  ranks = argc > 2 && size <= kRanks ? map_file(argv[2]) : NULL;
  if (!ranks) {
    fprintf(stderr, "late_ranks PATTERN FILE, for at most %d ranks\n", kRanks);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const WindowStep window_step = {pattern, rank, size, late, enter_window, prepared, await_prepared, done, await_done};
  if (is("neighbours")) make_star();
  const int of_window = is_of_window(pattern);
  if (of_window) {
    make_window(&window_step);
  } else {
    late_ranks_inside = note_inside;
  }
  for (step = 0; step < kSteps; ++step) {
    if (rank == late) {
      if (of_window) prepare_on_window();
      if (is("wrong_order")) {
        double data = 0;
        late_ranks_inside = NULL;
        MPI_Send(&data, 1, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD);
        late_ranks_inside = note_inside;
      }
      await_others(step + 1);
      sleep_ms(kLate);
    }
    if (of_window) {
      meet_on_window();
    } else {
      meet();
    }
  }
  late_ranks_inside = NULL;
  if (rank == 0) {
    await_others(kSteps);
    print_truth();
  }
  if (of_window) free_window();
  if (is("neighbours")) MPI_Comm_free(&star);
  MPI_Finalize();
  return 0;
}
