// See late_windows.h. One rank is late for all others:
//   late_post       it posts its window when they are in MPI_Win_start
//   early_wait      it puts its data when they are in MPI_Win_wait
//   late_complete   it completes when they are in MPI_Win_wait, long after it has put its data
//   lock            it gives an exclusive lock back when they are in MPI_Win_lock
//   fence           it reaches MPI_Win_fence
#include "tests/programs/late_windows.h"

#include <mpi.h>
#include <string.h>

#include "tests/programs/late_ranks_inside.h"

static WindowStep step;
static MPI_Win window;
static MPI_Group late_one, others;
static double* memory;

int is_of_window(const char* pattern) {
  static const char* const patterns[] = {"late_post", "early_wait", "late_complete", "lock", "fence"};
  for (unsigned i = 0; i < sizeof patterns / sizeof *patterns; ++i)
    if (strcmp(pattern, patterns[i]) == 0) return 1;
  return 0;
}

static int is(const char* pattern) { return strcmp(step.pattern, pattern) == 0; }
static int is_late(void) { return step.rank == step.late; }

void make_window(const WindowStep* of) {
  MPI_Group all;
  step = *of;
  MPI_Win_allocate((MPI_Aint)(step.size * (int)sizeof(double)), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                   &window);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &step.late, &late_one);
  MPI_Group_excl(all, 1, &step.late, &others);
  MPI_Group_free(&all);
}

void free_window(void) {
  MPI_Group_free(&late_one);
  MPI_Group_free(&others);
  MPI_Win_free(&window);
}

static void put_to_others(int from, int to) {
  const double value = 1;
  for (int rank = from; rank < to; ++rank)
    if (rank != step.late) MPI_Put(&value, 1, MPI_DOUBLE, rank, step.rank, 1, MPI_DOUBLE, window);
}

static void counts_no_more(void) { late_ranks_inside = NULL; }

void prepare_on_window(void) {
  if (is("late_complete")) {
    MPI_Win_start(others, 0, window);
    put_to_others(0, step.size);
  } else if (is("lock")) {
    step.await_done();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  }
  step.prepared();
}

static __attribute__((noinline)) void be_late(void) {
  if (is("late_post")) {
    step.enter();
    MPI_Win_post(others, 0, window);
    counts_no_more();
    MPI_Win_wait(window);
  } else if (is("early_wait")) {
    MPI_Win_start(others, 0, window);
    put_to_others(0, step.size - 2);
    step.enter();
    put_to_others(step.size - 2, step.size - 1);
    late_ranks_inside(0);  // they wait until the last has ended
    counts_no_more();
    MPI_Win_complete(window);
  } else if (is("late_complete")) {
    step.enter();
    MPI_Win_complete(window);
  } else if (is("lock")) {
    step.enter();
    MPI_Win_unlock(0, window);
  } else {
    step.enter();
    MPI_Win_fence(0, window);
  }
}

static __attribute__((noinline)) void be_held_up(void) {
  double value = 1;
  if (is("late_post")) {
    step.enter();
    MPI_Win_start(late_one, 0, window);
    counts_no_more();
    MPI_Put(&value, 1, MPI_DOUBLE, step.late, step.rank, 1, MPI_DOUBLE, window);
    MPI_Win_complete(window);
  } else if (is("early_wait") || is("late_complete")) {
    MPI_Win_post(late_one, 0, window);
    if (is("late_complete")) step.await_prepared();
    step.enter();
    MPI_Win_wait(window);
  } else if (is("lock")) {
    step.await_prepared();
    step.enter();
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    counts_no_more();
    MPI_Get(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
    MPI_Win_unlock(0, window);
    step.done();
  } else {
    step.enter();
    MPI_Win_fence(0, window);
  }
}

void meet_on_window(void) {
  if (is_late()) {
    be_late();
  } else {
    be_held_up();
  }
  counts_no_more();
}
