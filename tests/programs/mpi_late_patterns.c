/* Right programs in which one rank is late, one after the other:
     late_patterns FIRST LAST LATE PAUSE SECONDS
   runs patterns FIRST to LAST; in each, rank LATE pauses once for SECONDS: it "computes", "sleeps" or "reads". All end
   by themselves. Rank 0 prints the name of each when it begins. Any number of ranks from 3 on. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { kLarge = 1 << 18 }; /* numbers: 2 MiB, far beyond what is sent eagerly */
static const MPI_Comm kWorld = MPI_COMM_WORLD;
static int rank, size, late_rank, is_late;
static const char* how;
static double seconds;
static double *from, *to;

static double clock_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}
static void pause_here(void) {
  if (!strcmp(how, "sleeps")) {
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
  } else if (!strcmp(how, "reads")) {
    struct itimerspec time = {{0, 0}, {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)}};
    uint64_t count;
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    timerfd_settime(timer, 0, &time, NULL);
    if (read(timer, &count, sizeof count) < 0) abort();
    close(timer);
  } else {
    const double end = clock_seconds() + seconds; /* MPI_Wtime would be a call of MPI */
    volatile double sum = 0;
    while (clock_seconds() < end)
      for (int i = 0; i < 1000000; ++i) sum += i;
  }
}
/* The place of a pattern where the late rank is late. */
static void late(void) {
  if (rank != late_rank || !is_late) return;
  is_late = 0;
  pause_here();
}
static int next(void) { return (rank + 1) % size; }
static int previous(void) { return (rank + size - 1) % size; }

static void reduce_barrier(void) {
  late();
  MPI_Reduce(from, to, 4, MPI_DOUBLE, MPI_SUM, 0, kWorld);
  MPI_Barrier(kWorld);
}
static void reduce_bcast(void) {
  late();
  MPI_Reduce(from, to, 4, MPI_DOUBLE, MPI_SUM, 0, kWorld);
  MPI_Bcast(to, 4, MPI_DOUBLE, 0, kWorld);
}
static void gather_reduce(void) {
  late();
  MPI_Gather(from, 2, MPI_DOUBLE, to, 2, MPI_DOUBLE, 0, kWorld);
  MPI_Reduce(from, to, 2, MPI_DOUBLE, MPI_SUM, 0, kWorld);
}
static void scan_barrier(void) {
  late();
  MPI_Scan(from, to, 2, MPI_DOUBLE, MPI_SUM, kWorld);
  MPI_Barrier(kWorld);
}
static void reduces_of_two_roots(void) {
  late();
  MPI_Reduce(from, to, 2, MPI_DOUBLE, MPI_SUM, 0, kWorld);
  MPI_Reduce(from, to, 2, MPI_DOUBLE, MPI_SUM, size - 1, kWorld);
}
static void halo(void) {
  MPI_Request requests[4];
  for (int step = 0; step < 3; ++step) {
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    if (step == 1) late();
    MPI_Irecv(to, 8, MPI_DOUBLE, left, 1, kWorld, &requests[0]);
    MPI_Irecv(to + 8, 8, MPI_DOUBLE, right, 1, kWorld, &requests[1]);
    MPI_Isend(from, 8, MPI_DOUBLE, left, 1, kWorld, &requests[2]);
    MPI_Isend(from, 8, MPI_DOUBLE, right, 1, kWorld, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
}
static void sendrecv_ring(void) {
  for (int step = 0; step < 2 * size; ++step) {
    if (step == 2) late();
    MPI_Sendrecv(from, 8, MPI_DOUBLE, next(), 2, to, 8, MPI_DOUBLE, previous(), 2, kWorld, MPI_STATUS_IGNORE);
  }
}
static void waitall_then_reply(void) {
  MPI_Request requests[2];
  MPI_Irecv(to, 8, MPI_DOUBLE, previous(), 3, kWorld, &requests[0]);
  MPI_Isend(from, 8, MPI_DOUBLE, next(), 3, kWorld, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  late();
  MPI_Isend(from, 8, MPI_DOUBLE, previous(), 4, kWorld, &requests[0]);
  MPI_Recv(to, 8, MPI_DOUBLE, next(), 4, kWorld, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}
static void persistent(void) {
  MPI_Request requests[4];
  MPI_Recv_init(to, 8, MPI_DOUBLE, previous(), 5, kWorld, &requests[0]);
  MPI_Recv_init(to + 8, 8, MPI_DOUBLE, next(), 6, kWorld, &requests[1]);
  MPI_Send_init(from, 8, MPI_DOUBLE, next(), 5, kWorld, &requests[2]);
  MPI_Send_init(from, 8, MPI_DOUBLE, previous(), 6, kWorld, &requests[3]);
  for (int step = 0; step < 4; ++step) {
    if (step == 2) late();
    MPI_Startall(4, requests);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < 4; ++i) MPI_Request_free(&requests[i]);
}
static void farm(void) {
  if (rank == 0) {
    late();
    for (int i = 0; i < 2 * (size - 1); ++i) {
      MPI_Status status;
      MPI_Recv(to, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 7, kWorld, &status);
      MPI_Send(from, 1, MPI_DOUBLE, status.MPI_SOURCE, 8, kWorld);
    }
  } else {
    for (int i = 0; i < 2; ++i) {
      if (i == 1) late();
      MPI_Send(from, 1, MPI_DOUBLE, 0, 7, kWorld);
      MPI_Recv(to, 1, MPI_DOUBLE, 0, 8, kWorld, MPI_STATUS_IGNORE);
    }
  }
}
static void bcasts_of_all(void) {
  late();
  for (int root = 0; root < size; ++root) MPI_Bcast(to, kLarge, MPI_DOUBLE, root, kWorld);
}
static void ibarrier_wait(void) {
  MPI_Request request;
  MPI_Ibarrier(kWorld, &request);
  late();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void iallreduces(void) {
  MPI_Request requests[2];
  late();
  MPI_Iallreduce(from, to, 8, MPI_DOUBLE, MPI_SUM, kWorld, &requests[0]);
  MPI_Iallreduce(from, to + 8, kLarge / 2, MPI_DOUBLE, MPI_SUM, kWorld, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void halves(void) {
  MPI_Comm half;
  MPI_Comm_split(kWorld, rank < size / 2, rank, &half);
  late();
  for (int i = 0; i < 3; ++i) MPI_Allreduce(from, to, 1, MPI_DOUBLE, MPI_SUM, half);
  MPI_Allreduce(from, to, 1, MPI_DOUBLE, MPI_SUM, kWorld);
  MPI_Comm_free(&half);
}
static void pipeline(void) {
  for (int step = 0; step < 3; ++step) {
    if (rank > 0) MPI_Recv(to, kLarge, MPI_DOUBLE, rank - 1, 9, kWorld, MPI_STATUS_IGNORE);
    if (step == 1) late();
    if (rank + 1 < size) MPI_Send(from, kLarge, MPI_DOUBLE, rank + 1, 9, kWorld);
  }
}
static void probes(void) {
  MPI_Status status;
  MPI_Request request;
  late();
  MPI_Isend(from, 5, MPI_DOUBLE, next(), 10, kWorld, &request);
  MPI_Probe(MPI_ANY_SOURCE, 10, kWorld, &status);
  MPI_Recv(to, 5, MPI_DOUBLE, status.MPI_SOURCE, 10, kWorld, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void waitany_loop(void) {
  MPI_Request* const requests = malloc(sizeof *requests * 2 * (size_t)size);
  int count = 0, index;
  for (int peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    MPI_Irecv(to + peer, 1, MPI_DOUBLE, peer, 11, kWorld, &requests[count++]);
  }
  late();
  for (int peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    MPI_Isend(from, 1, MPI_DOUBLE, peer, 11, kWorld, &requests[count++]);
  }
  do {
    MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
  } while (index != MPI_UNDEFINED);
  free(requests);
}
static void alltoalls(void) {
  MPI_Alltoall(from, 1, MPI_DOUBLE, to, 1, MPI_DOUBLE, kWorld);
  late();
  MPI_Alltoall(from, 64, MPI_DOUBLE, to, 64, MPI_DOUBLE, kWorld);
}
static void duplicates(void) {
  MPI_Comm one, two;
  MPI_Comm_dup(kWorld, &one);
  late();
  MPI_Comm_dup(one, &two);
  MPI_Barrier(two);
  MPI_Barrier(one);
  MPI_Comm_free(&one);
  MPI_Comm_free(&two);
}
static void gather_scatter(void) {
  late();
  MPI_Gather(from, 1024, MPI_DOUBLE, to, 1024, MPI_DOUBLE, 1, kWorld);
  MPI_Scatter(from, 1024, MPI_DOUBLE, to, 1024, MPI_DOUBLE, 1, kWorld);
  MPI_Gather(from, 1024, MPI_DOUBLE, to, 1024, MPI_DOUBLE, 0, kWorld);
}

/* The second half: written after the first was evaluated. */
static void scatter_then_reduce_elsewhere(void) {
  late();
  MPI_Scatter(from, 16, MPI_DOUBLE, to, 16, MPI_DOUBLE, 0, kWorld);
  MPI_Reduce(from, to, 16, MPI_DOUBLE, MPI_SUM, 1, kWorld);
  MPI_Scatter(from, 16, MPI_DOUBLE, to, 16, MPI_DOUBLE, 2, kWorld);
}
static void many_reduces(void) {
  for (int i = 0; i < 40; ++i) {
    if (i == 3) late();
    MPI_Reduce(from, to, 1, MPI_DOUBLE, MPI_SUM, 0, kWorld);
  }
}
static void exscan_gatherv(void) {
  int* const counts = calloc(2 * (size_t)size, sizeof *counts);
  for (int i = 0; i < size; ++i) counts[i] = i, counts[size + i] = i * i;
  late();
  MPI_Exscan(from, to, 1, MPI_DOUBLE, MPI_SUM, kWorld);
  MPI_Gatherv(from, rank, MPI_DOUBLE, to, counts, counts + size, MPI_DOUBLE, 0, kWorld);
  MPI_Bcast(to, 1, MPI_DOUBLE, size - 1, kWorld);
  free(counts);
}
static void torus(void) {
  int dims[1] = {0}, periods[1] = {1}, left, right;
  MPI_Comm torus_comm;
  MPI_Dims_create(size, 1, dims);
  MPI_Cart_create(kWorld, 1, dims, periods, 0, &torus_comm);
  MPI_Cart_shift(torus_comm, 0, 1, &left, &right);
  for (int step = 0; step < 4; ++step) {
    if (step == 1) late();
    MPI_Sendrecv_replace(to, 4, MPI_DOUBLE, right, 1, left, 1, torus_comm, MPI_STATUS_IGNORE);
    MPI_Neighbor_allgather(from, 2, MPI_DOUBLE, to, 2, MPI_DOUBLE, torus_comm);
  }
  MPI_Comm_free(&torus_comm);
}
static void isends_then_allreduce(void) {
  MPI_Request requests[2];
  MPI_Isend(from, kLarge, MPI_DOUBLE, next(), 21, kWorld, &requests[0]);
  late();
  MPI_Allreduce(from, to, 1, MPI_DOUBLE, MPI_SUM, kWorld);
  MPI_Irecv(to, kLarge, MPI_DOUBLE, previous(), 21, kWorld, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void irecvs_long_before(void) {
  MPI_Request request;
  MPI_Irecv(to, kLarge, MPI_DOUBLE, previous(), 22, kWorld, &request);
  late();
  MPI_Send(from, kLarge, MPI_DOUBLE, next(), 22, kWorld);
  MPI_Barrier(kWorld);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void waitsome_of_a_server(void) {
  if (rank == 0) {
    MPI_Request* const requests = malloc(sizeof *requests * (size_t)size);
    int* const which = malloc(sizeof *which * (size_t)size);
    int count;
    for (int i = 1; i < size; ++i) MPI_Irecv(to + i, 1, MPI_DOUBLE, i, 23, kWorld, &requests[i - 1]);
    late();
    do {
      MPI_Waitsome(size - 1, requests, &count, which, MPI_STATUSES_IGNORE);
      for (int i = 0; count != MPI_UNDEFINED && i < count; ++i) MPI_Ssend(from, 1, MPI_DOUBLE, which[i] + 1, 24, kWorld);
    } while (count != MPI_UNDEFINED);
    free(requests);
    free(which);
  } else {
    late();
    MPI_Send(from, 1, MPI_DOUBLE, 0, 23, kWorld);
    MPI_Recv(to, 1, MPI_DOUBLE, 0, 24, kWorld, MPI_STATUS_IGNORE);
  }
}
static void red_black(void) {
  for (int step = 0; step < 4; ++step) {
    if (step == 2) late();
    for (int side = 0; side < 2; ++side) {
      const int peer = (rank % 2 == side) ? rank + 1 : rank - 1;
      if (peer < 0 || peer >= size) continue;
      if (rank % 2 == 0) {
        MPI_Ssend(from, 4, MPI_DOUBLE, peer, 25, kWorld);
        MPI_Recv(to, 4, MPI_DOUBLE, peer, 25, kWorld, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(to, 4, MPI_DOUBLE, peer, 25, kWorld, MPI_STATUS_IGNORE);
        MPI_Ssend(from, 4, MPI_DOUBLE, peer, 25, kWorld);
      }
    }
  }
}
static void rows_and_columns(void) {
  MPI_Comm row, column;
  MPI_Comm_split(kWorld, rank / 2, rank, &row);
  MPI_Comm_split(kWorld, rank % 2, rank, &column);
  for (int i = 0; i < 3; ++i) {
    if (i == 1) late();
    MPI_Bcast(to, 4, MPI_DOUBLE, 0, row);
    MPI_Reduce(from, to, 4, MPI_DOUBLE, MPI_SUM, 0, column);
    MPI_Allgather(from, 1, MPI_DOUBLE, to, 1, MPI_DOUBLE, row);
  }
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
}
static void ibcasts_of_all(void) {
  MPI_Request* const requests = malloc(sizeof *requests * (size_t)size);
  for (int root = 0; root < size; ++root) {
    if (root == 1) late();
    MPI_Ibcast(to + root * 4096, 4096, MPI_DOUBLE, root, kWorld, &requests[root]);
  }
  MPI_Waitall(size, requests, MPI_STATUSES_IGNORE);
  free(requests);
}
static void ibarrier_around_messages(void) {
  MPI_Request barrier, request;
  MPI_Isend(from, 1, MPI_DOUBLE, next(), 26, kWorld, &request);
  MPI_Recv(to, 1, MPI_DOUBLE, previous(), 26, kWorld, MPI_STATUS_IGNORE);
  late();
  MPI_Ibarrier(kWorld, &barrier);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
}
static void iallreduce_under_messages(void) {
  MPI_Request requests[3];
  MPI_Iallreduce(from, to, kLarge / 4, MPI_DOUBLE, MPI_SUM, kWorld, &requests[0]);
  late();
  MPI_Irecv(to + kLarge, 8, MPI_DOUBLE, previous(), 27, kWorld, &requests[1]);
  MPI_Isend(from, 8, MPI_DOUBLE, next(), 27, kWorld, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}
static void matched_probes(void) {
  if (rank == 0) {
    for (int i = 1; i < size; ++i) {
      MPI_Message message;
      MPI_Status status;
      MPI_Mprobe(MPI_ANY_SOURCE, 28, kWorld, &message, &status);
      if (i == 2) late();
      MPI_Mrecv(to, kLarge, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    }
  } else {
    late();
    MPI_Send(from, kLarge, MPI_DOUBLE, 0, 28, kWorld);
  }
}
static void fences(void) {
  MPI_Win window;
  MPI_Win_create(to, 1024, 1, MPI_INFO_NULL, kWorld, &window);
  MPI_Win_fence(0, window);
  late();
  MPI_Put(from, 1, MPI_DOUBLE, next(), 0, 8, MPI_BYTE, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}
static void groups_of_a_window(void) {
  MPI_Win window;
  MPI_Group world_group, group;
  const int peers[2] = {previous(), next()};
  MPI_Win_create(to, 1024, 1, MPI_INFO_NULL, kWorld, &window);
  MPI_Comm_group(kWorld, &world_group);
  MPI_Group_incl(world_group, 2, peers, &group);
  MPI_Win_post(group, 0, window);
  late();
  MPI_Win_start(group, 0, window);
  MPI_Put(from, 1, MPI_DOUBLE, next(), 0, 8, MPI_BYTE, window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  MPI_Group_free(&group);
  MPI_Group_free(&world_group);
  MPI_Win_free(&window);
}
static void persistent_of_one_side(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Recv_init(to, 4, MPI_DOUBLE, MPI_ANY_SOURCE, 29, kWorld, &request);
    for (int i = 1; i < size; ++i) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (i == 1) late();
    }
    MPI_Request_free(&request);
  } else {
    late();
    MPI_Ssend(from, 4, MPI_DOUBLE, 0, 29, kWorld);
  }
  MPI_Bcast(to, 4, MPI_DOUBLE, 0, kWorld);
}
static void between_two_groups(void) {
  MPI_Comm half, bridge, merged;
  const int low = rank < size / 2;
  MPI_Comm_split(kWorld, low, rank, &half);
  MPI_Intercomm_create(half, 0, kWorld, low ? size / 2 : 0, 30, &bridge);
  late();
  int own, others;
  MPI_Comm_rank(bridge, &own);
  MPI_Comm_remote_size(bridge, &others);
  if (own < others) MPI_Sendrecv(from, 1, MPI_DOUBLE, own, 31, to, 1, MPI_DOUBLE, own, 31, bridge, MPI_STATUS_IGNORE);
  MPI_Barrier(bridge);
  MPI_Intercomm_merge(bridge, low, &merged);
  MPI_Allreduce(from, to, 1, MPI_DOUBLE, MPI_SUM, merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&bridge);
  MPI_Comm_free(&half);
}
static void a_duplicate_in_the_background(void) {
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_idup(kWorld, &copy, &request);
  late();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Reduce(from, to, 1, MPI_DOUBLE, MPI_SUM, 0, copy);
  MPI_Barrier(copy);
  MPI_Comm_free(&copy);
}
static void one_writes_a_file(void) {
  MPI_File file;
  MPI_Status status;
  char name[64];
  snprintf(name, sizeof name, "/tmp/late_patterns_%d", (int)getppid());
  MPI_File_open(kWorld, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  late();
  MPI_File_write_at_all(file, rank * 64, from, 8, MPI_DOUBLE, &status);
  MPI_File_close(&file);
  MPI_Gather(from, 1, MPI_DOUBLE, to, 1, MPI_DOUBLE, 0, kWorld);
}
static void wavefront(void) {
  for (int wave = 0; wave < 3; ++wave) {
    MPI_Request request;
    if (rank > 0) MPI_Recv(to, 64, MPI_DOUBLE, rank - 1, 32, kWorld, MPI_STATUS_IGNORE);
    if (wave == 1) late();
    if (rank + 1 < size) {
      MPI_Isend(from, 64, MPI_DOUBLE, rank + 1, 32, kWorld, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(from, to, 1, MPI_DOUBLE, MPI_MAX, kWorld);
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} kPatterns[] = {
    {"reduce_barrier", reduce_barrier},
    {"reduce_bcast", reduce_bcast},
    {"gather_reduce", gather_reduce},
    {"scan_barrier", scan_barrier},
    {"reduces_of_two_roots", reduces_of_two_roots},
    {"halo", halo},
    {"sendrecv_ring", sendrecv_ring},
    {"waitall_then_reply", waitall_then_reply},
    {"persistent", persistent},
    {"farm", farm},
    {"bcasts_of_all", bcasts_of_all},
    {"ibarrier_wait", ibarrier_wait},
    {"iallreduces", iallreduces},
    {"halves", halves},
    {"pipeline", pipeline},
    {"probes", probes},
    {"waitany_loop", waitany_loop},
    {"alltoalls", alltoalls},
    {"duplicates", duplicates},
    {"gather_scatter", gather_scatter},
    {"scatter_then_reduce_elsewhere", scatter_then_reduce_elsewhere},
    {"many_reduces", many_reduces},
    {"exscan_gatherv", exscan_gatherv},
    {"torus", torus},
    {"isends_then_allreduce", isends_then_allreduce},
    {"irecvs_long_before", irecvs_long_before},
    {"waitsome_of_a_server", waitsome_of_a_server},
    {"red_black", red_black},
    {"rows_and_columns", rows_and_columns},
    {"ibcasts_of_all", ibcasts_of_all},
    {"ibarrier_around_messages", ibarrier_around_messages},
    {"iallreduce_under_messages", iallreduce_under_messages},
    {"matched_probes", matched_probes},
    {"fences", fences},
    {"groups_of_a_window", groups_of_a_window},
    {"persistent_of_one_side", persistent_of_one_side},
    {"between_two_groups", between_two_groups},
    {"one_writes_a_file", one_writes_a_file},
    {"wavefront", wavefront},
    {"a_duplicate_in_the_background", a_duplicate_in_the_background},
};

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(kWorld, &rank);
  MPI_Comm_size(kWorld, &size);
  from = calloc(2 * kLarge, sizeof *from);
  to = calloc(2 * kLarge, sizeof *to);
  late_rank = atoi(argv[3]);
  how = argv[4];
  seconds = atof(argv[5]);
  const int last = atoi(argv[2]);
  for (int i = atoi(argv[1]); i <= last && i <= (int)(sizeof kPatterns / sizeof kPatterns[0]); ++i) {
    MPI_Barrier(kWorld);
    if (rank == 0) {
      printf("pattern %d: %s\n", i, kPatterns[i - 1].name);
      fflush(stdout);
    }
    is_late = 1;
    kPatterns[i - 1].run();
  }
  MPI_Barrier(kWorld);
  if (rank == 0) printf("all ended\n");
  MPI_Finalize();
  return 0;
}
