/* One-sided communication: windows of every flavour on each communicator, all operations, all ways to synchronise. */
#include "conformance.h"

enum { kCells = 16 };

static int rank, size, next, previous;

static void show(const char* what, const int* cells) {
  say("%s: %d %d %d %d %d %d", what, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]);
}

static void reset(int* cells) {
  for (int i = 0; i < kCells; ++i) cells[i] = 10 * rank + i;
}

/* Each process accesses only its next process's memory, so the result does not depend on the order. */
static void operations(MPI_Win window, MPI_Aint base) {
  int out[4] = {1000 + rank, 2000 + rank, 3000 + rank, 4000 + rank}, in[4] = {-1, -1, -1, -1}, compare;
  MPI_Request requests[4];
  MPI_Aint unit = base == 0 ? 1 : (MPI_Aint)sizeof(int);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window);
  MPI_Put(out, 1, MPI_INT, next, base, 1, MPI_INT, window);
  MPI_Win_flush(next, window);
  MPI_Get(in, 2, MPI_INT, next, base, 2, MPI_INT, window);
  MPI_Win_flush_local(next, window);
  MPI_Win_unlock(next, window);
  show("got", (int[6]){in[0], in[1]});
  MPI_Win_lock_all(0, window);
  MPI_Accumulate(out, 1, MPI_INT, next, base + unit, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_flush_all(window);
  MPI_Get_accumulate(out, 1, MPI_INT, in, 1, MPI_INT, next, base + 2 * unit, 1, MPI_INT, MPI_REPLACE, window);
  MPI_Fetch_and_op(&out[1], &in[1], MPI_INT, next, base + 3 * unit, MPI_SUM, window);
  MPI_Win_flush_local_all(window);
  compare = 10 * next + 4;
  MPI_Compare_and_swap(&out[2], &compare, &in[2], MPI_INT, next, base + 4 * unit, window);
  MPI_Win_flush(next, window);
  MPI_Win_unlock_all(window);
  show("fetched", (int[6]){in[0], in[1], in[2]});
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
  MPI_Rput(out, 1, MPI_INT, next, base + 5 * unit, 1, MPI_INT, window, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Win_flush(next, window);
  MPI_Rget(in, 1, MPI_INT, next, base + 5 * unit, 1, MPI_INT, window, &requests[1]);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Raccumulate(out, 1, MPI_INT, next, base + unit, 1, MPI_INT, MPI_MAX, window, &requests[2]);
  MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
  MPI_Win_flush(next, window);
  MPI_Rget_accumulate(out, 1, MPI_INT, in + 1, 1, MPI_INT, next, base + unit, 1, MPI_INT, MPI_NO_OP, window,
                      &requests[3]);
  MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
  MPI_Win_unlock(next, window);
  show("by requests", (int[6]){in[0], in[1]});
}

static void fences(MPI_Win window, int* cells) {
  int mine = 7000 + rank;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  MPI_Put(&mine, 1, MPI_INT, next, 2, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Accumulate(&mine, 1, MPI_INT, previous, 3, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  show("after fences", cells);
}

static void exposed(MPI_Comm comm, MPI_Win window, int* cells) {
  MPI_Group group, from, to;
  int mine = 8000 + rank, done = 0;
  MPI_Comm_group(comm, &group);
  MPI_Group_incl(group, 1, &previous, &from);
  MPI_Group_incl(group, 1, &next, &to);
  for (int round = 0; round < 2; ++round) {
    MPI_Win_post(from, 0, window);
    MPI_Win_start(to, 0, window);
    MPI_Put(&mine, 1, MPI_INT, next, 4 + round, 1, MPI_INT, window);
    MPI_Win_complete(window);
    if (round == 0) MPI_Win_wait(window);
    for (done = 0; round == 1 && !done;) MPI_Win_test(window, &done);
  }
  MPI_Group_free(&from);
  MPI_Group_free(&to);
  MPI_Group_free(&group);
  show("after post and wait", cells);
}

static void belongings(MPI_Comm comm, MPI_Win window) {
  char name[MPI_MAX_OBJECT_NAME];
  int length, relation;
  MPI_Group group, of_window;
  MPI_Win_set_name(window, "halo cells");
  MPI_Win_get_name(window, name, &length);
  MPI_Win_get_group(window, &of_window);
  MPI_Comm_group(comm, &group);
  MPI_Group_compare(group, of_window, &relation);
  say("%s: of its communicator's group %d, there and back %d", name, relation == MPI_IDENT,
      MPI_Win_f2c(MPI_Win_c2f(window)) == window);
  MPI_Group_free(&group);
  MPI_Group_free(&of_window);
}

static void created(MPI_Comm comm) {
  int cells[kCells];
  MPI_Win window;
  reset(cells);
  MPI_Win_create(cells, sizeof cells, sizeof(int), MPI_INFO_NULL, comm, &window);
  belongings(comm, window);
  MPI_Barrier(comm);
  operations(window, 0);
  MPI_Barrier(comm);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  show("created", cells);
  MPI_Win_unlock(rank, window);
  MPI_Barrier(comm);
  fences(window, cells);
  exposed(comm, window, cells);
  MPI_Win_free(&window);
  say("freed %d", window == MPI_WIN_NULL);
}

static void allocated(MPI_Comm comm) {
  int* memory;
  MPI_Win window;
  MPI_Win_allocate(kCells * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &window);
  reset(memory);
  MPI_Barrier(comm);
  operations(window, 0);
  MPI_Barrier(comm);
  fences(window, memory);
  MPI_Win_free(&window);
}

static void shared(MPI_Comm comm) {
  int *memory, *beside, unit;
  MPI_Aint bytes;
  MPI_Win window;
  MPI_Win_allocate_shared(kCells * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &window);
  MPI_Win_lock_all(0, window);
  reset(memory);
  MPI_Win_sync(window);
  MPI_Barrier(comm);
  MPI_Win_shared_query(window, next, &bytes, &unit, &beside);
  say("next one's memory: %ld bytes, unit %d, %d", (long)bytes, unit, beside[3]);
  MPI_Barrier(comm);
  beside[4] = 9000 + rank;
  MPI_Win_sync(window);
  MPI_Barrier(comm);
  show("shared", memory);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

static void dynamic(MPI_Comm comm) {
  int cells[kCells];
  MPI_Aint address, addresses[4];
  MPI_Win window;
  reset(cells);
  MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window);
  MPI_Win_attach(window, cells, sizeof cells);
  MPI_Get_address(cells, &address);
  MPI_Allgather(&address, 1, MPI_AINT, addresses, 1, MPI_AINT, comm);
  operations(window, addresses[next]);
  MPI_Barrier(comm);
  show("attached", cells);
  MPI_Win_detach(window, cells);
  MPI_Win_free(&window);
}

static void all_flavours(const Named* named) {
  MPI_Comm_rank(named->comm, &rank);
  MPI_Comm_size(named->comm, &size);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  say("on %s", named->name);
  /* Open MPI 4 makes windows of one process only of memory that it allocates. */
  if (size > 1) created(named->comm);
  allocated(named->comm);
  shared(named->comm);
  if (size > 1) dynamic(named->comm);
}

void one_sided(void) {
  for (int i = 0; i < kIntra; ++i) {
    /* Halves and single processes one after the other: Open MPI 4 names the files of their windows alike. */
    const int turns = i == 3 ? 2 : i == 6 ? 4 : 1;
    for (int turn = 0; turn < turns; ++turn) {
      if (world_rank % turns == turn) all_flavours(&intra[i]);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}
