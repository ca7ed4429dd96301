/* Wrong programs, each of which hangs: wrong_patterns NUMBER, on 3 ranks. Rank 0 prints its name. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kLarge = 1 << 18 }; /* numbers: 2 MiB, far beyond what is sent eagerly */
static const MPI_Comm kWorld = MPI_COMM_WORLD;
static int rank, size;
static double *from, *to;
static int next(void) { return (rank + 1) % size; }
static int previous(void) { return (rank + size - 1) % size; }
static void receive(int source, int tag, MPI_Comm comm) {
  MPI_Recv(to, 1, MPI_DOUBLE, source, tag, comm, MPI_STATUS_IGNORE);
}
static void send(int target, int tag, MPI_Comm comm) { MPI_Send(from, 1, MPI_DOUBLE, target, tag, comm); }

static void receives_in_a_ring(void) {
  receive(previous(), 1, kWorld);
  send(next(), 1, kWorld);
}
static void large_sends_in_a_ring(void) {
  MPI_Send(from, kLarge, MPI_DOUBLE, next(), 1, kWorld);
  MPI_Recv(to, kLarge, MPI_DOUBLE, previous(), 1, kWorld, MPI_STATUS_IGNORE);
}
static void wrong_tag(void) {
  if (rank == 0) send(1, 1, kWorld);
  if (rank == 1) receive(0, 2, kWorld);
}
static void sender_ends(void) {
  if (rank == 0) receive(1, 1, kWorld);
}
/* (Open MPI's MPI_Finalize matches an MPI_Barrier.) */
static void one_skips_the_allreduce(void) {
  if (rank != 1) MPI_Allreduce(from, to, 4, MPI_DOUBLE, MPI_SUM, kWorld);
}
static void barrier_and_allreduce(void) {
  if (rank == 0) {
    MPI_Barrier(kWorld);
  } else {
    MPI_Allreduce(from, to, 4, MPI_DOUBLE, MPI_SUM, kWorld);
  }
}
static void bcasts_of_different_roots(void) {
  MPI_Bcast(to, kLarge, MPI_DOUBLE, rank == 0 ? 0 : 1, kWorld);
  MPI_Barrier(kWorld);
}
static void communicators_in_different_order(void) {
  MPI_Comm one, two;
  MPI_Comm_dup(kWorld, &one);
  MPI_Comm_dup(kWorld, &two);
  MPI_Barrier(rank == 0 ? one : two);
  MPI_Barrier(rank == 0 ? two : one);
}
static void waitall_for_too_many(void) {
  MPI_Request requests[3];
  MPI_Irecv(to, 1, MPI_DOUBLE, previous(), 1, kWorld, &requests[0]);
  MPI_Isend(from, 1, MPI_DOUBLE, next(), 1, kWorld, &requests[1]);
  MPI_Irecv(to + 1, 1, MPI_DOUBLE, next(), 2, kWorld, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  send(previous(), 2, kWorld);
}
static void sendrecv_from_the_wrong_side(void) {
  MPI_Sendrecv(from, 1, MPI_DOUBLE, next(), 1, to, 1, MPI_DOUBLE, next(), 1, kWorld, MPI_STATUS_IGNORE);
}
static void reduces_of_different_roots(void) {
  MPI_Reduce(from, to, 4, MPI_DOUBLE, MPI_SUM, rank == 2 ? 2 : 0, kWorld);
  MPI_Barrier(kWorld);
}
static void igathers_of_different_roots(void) {
  MPI_Request request;
  MPI_Igather(from, 1, MPI_DOUBLE, to, 1, MPI_DOUBLE, rank == 1 ? 1 : 0, kWorld, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void any_source_without_a_sender(void) { receive(MPI_ANY_SOURCE, 1, kWorld); }
static void another_communicator(void) {
  MPI_Comm other;
  MPI_Comm_dup(kWorld, &other);
  if (rank == 0) send(1, 1, kWorld);
  if (rank == 1) receive(0, 1, other);
  MPI_Barrier(kWorld);
}
static void probe_without_a_message(void) {
  MPI_Status status;
  if (rank == 0) MPI_Probe(2, 1, kWorld, &status);
  MPI_Barrier(kWorld);
}
static void alltoall_and_allgather(void) {
  if (rank == 2) {
    MPI_Allgather(from, 1, MPI_DOUBLE, to, 1, MPI_DOUBLE, kWorld);
  } else {
    MPI_Alltoall(from, 1, MPI_DOUBLE, to, 1, MPI_DOUBLE, kWorld);
  }
}
static void receive_from_itself(void) {
  if (rank == 1) receive(1, 1, kWorld);
  MPI_Barrier(kWorld);
}
static void ibarrier_that_one_does_not_start(void) {
  MPI_Request request;
  if (rank == 1) receive(0, 1, kWorld);
  MPI_Ibarrier(kWorld, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) send(1, 1, kWorld);
}
static void allreduce_and_reduce(void) {
  if (rank == 1) {
    MPI_Reduce(from, to, 4, MPI_DOUBLE, MPI_SUM, 0, kWorld);
  } else {
    MPI_Allreduce(from, to, 4, MPI_DOUBLE, MPI_SUM, kWorld);
  }
}
static void root_of_scatter_receives(void) {
  if (rank == 0) receive(1, 1, kWorld);
  MPI_Scatter(from, 1, MPI_DOUBLE, to, 1, MPI_DOUBLE, 0, kWorld);
  if (rank == 1) send(0, 1, kWorld);
}

/* The second half: written after the first was evaluated. */
static void one_leaves_the_loop_early(void) {
  for (int i = 0; i < (rank == 2 ? 4 : 5); ++i) MPI_Allreduce(from, to, 1, MPI_DOUBLE, MPI_SUM, kWorld);
}
static void halo_without_one_side(void) {
  MPI_Request requests[4];
  int count = 0;
  MPI_Irecv(to, 1, MPI_DOUBLE, previous(), 1, kWorld, &requests[count++]);
  MPI_Irecv(to + 1, 1, MPI_DOUBLE, next(), 2, kWorld, &requests[count++]);
  MPI_Isend(from, 1, MPI_DOUBLE, next(), 1, kWorld, &requests[count++]);
  if (rank != 1) MPI_Isend(from, 1, MPI_DOUBLE, previous(), 2, kWorld, &requests[count++]);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  MPI_Barrier(kWorld);
}
static void two_masters(void) {
  if (rank < 2) {
    for (int i = 0; i < 2; ++i) receive(MPI_ANY_SOURCE, 1, kWorld);
  } else {
    send(0, 1, kWorld);
    send(1, 1, kWorld);
    receive(0, 2, kWorld);
  }
}
static void server_waits_for_one_more(void) {
  if (rank == 0) {
    for (int i = 0; i < size; ++i) receive(MPI_ANY_SOURCE, 1, kWorld);
  } else {
    send(0, 1, kWorld);
  }
  MPI_Barrier(kWorld);
}
static void synchronous_pair(void) {
  if (rank == 2) return;
  MPI_Ssend(from, 1, MPI_DOUBLE, 1 - rank, 1, kWorld);
  receive(1 - rank, 1, kWorld);
}
static void root_of_a_bcast_receives(void) {
  if (rank == 1) receive(0, 1, kWorld);
  MPI_Bcast(to, 4, MPI_DOUBLE, 1, kWorld);
  if (rank == 0) send(1, 1, kWorld);
}
static void gather_and_allgather(void) {
  if (rank == 0) {
    MPI_Allgather(from, 1, MPI_DOUBLE, to, 1, MPI_DOUBLE, kWorld);
  } else {
    MPI_Gather(from, 1, MPI_DOUBLE, to, 1, MPI_DOUBLE, 0, kWorld);
  }
  MPI_Barrier(kWorld);
}
static void collective_in_a_branch(void) {
  if (rank == 1) {
    receive(0, 1, kWorld);
    MPI_Bcast(to, 1, MPI_DOUBLE, 0, kWorld);
  } else {
    MPI_Barrier(kWorld);
    if (rank == 0) send(1, 1, kWorld);
  }
}
static void split_and_dup(void) {
  MPI_Comm comm;
  if (rank == 0) {
    MPI_Comm_dup(kWorld, &comm);
  } else {
    MPI_Comm_split(kWorld, 0, rank, &comm);
  }
}
static void subgroup_against_world(void) {
  MPI_Comm pair;
  MPI_Comm_split(kWorld, rank < 2, rank, &pair);
  if (rank == 0) {
    MPI_Barrier(pair);
    MPI_Barrier(kWorld);
  } else {
    MPI_Barrier(kWorld);
    if (rank == 1) MPI_Barrier(pair);
  }
}
static void waitany_without_an_end(void) {
  MPI_Request requests[2];
  int index;
  MPI_Irecv(to, 1, MPI_DOUBLE, next(), 1, kWorld, &requests[0]);
  MPI_Irecv(to + 1, 1, MPI_DOUBLE, previous(), 1, kWorld, &requests[1]);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  send(next(), 1, kWorld);
}
static void persistent_that_one_does_not_start(void) {
  MPI_Request requests[2];
  MPI_Recv_init(to, 1, MPI_DOUBLE, previous(), 1, kWorld, &requests[0]);
  MPI_Send_init(from, 1, MPI_DOUBLE, next(), 1, kWorld, &requests[1]);
  MPI_Start(&requests[0]);
  if (rank != 1) MPI_Start(&requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Barrier(kWorld);
}
static void mprobe_of_nothing(void) {
  MPI_Message message;
  MPI_Status status;
  MPI_Mprobe(next(), 1, kWorld, &message, &status);
}
static void iallreduce_and_ibarrier(void) {
  MPI_Request request;
  if (rank == 1) {
    MPI_Ibarrier(kWorld, &request);
  } else {
    MPI_Iallreduce(from, to, 1, MPI_DOUBLE, MPI_SUM, kWorld, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void ialltoall_before_a_message(void) {
  MPI_Request request;
  if (rank == 2) MPI_Ssend(from, 1, MPI_DOUBLE, 0, 1, kWorld);
  MPI_Ialltoall(from, 1, MPI_DOUBLE, to, 1, MPI_DOUBLE, kWorld, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) receive(2, 1, kWorld);
}
static void large_sends_to_a_root_that_gathers(void) {
  if (rank != 0) MPI_Send(from, kLarge, MPI_DOUBLE, 0, 1, kWorld);
  MPI_Gather(from, 1, MPI_DOUBLE, to, 1, MPI_DOUBLE, 0, kWorld);
  for (int i = 1; rank == 0 && i < size; ++i)
    MPI_Recv(to, kLarge, MPI_DOUBLE, i, 1, kWorld, MPI_STATUS_IGNORE);
}
static void sendrecv_chain_that_is_open(void) {
  const int target = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(from, 1, MPI_DOUBLE, target, 1, to, 1, MPI_DOUBLE, previous(), 1, kWorld, MPI_STATUS_IGNORE);
  MPI_Barrier(kWorld);
}
static void scan_that_the_first_skips(void) {
  if (rank == 0) {
    receive(2, 1, kWorld);
  } else {
    MPI_Scan(from, to, 1, MPI_DOUBLE, MPI_SUM, kWorld);
    if (rank == 2) send(0, 1, kWorld);
  }
}
static void bridge_without_an_answer(void) {
  MPI_Comm half, bridge;
  MPI_Comm_split(kWorld, rank == 0, rank, &half);
  MPI_Intercomm_create(half, 0, kWorld, rank == 0 ? 1 : 0, 9, &bridge);
  if (rank < 2) receive(0, 1, bridge);
  MPI_Barrier(kWorld);
}
static void recv_of_the_wrong_rank(void) {
  if (rank == 0) receive(2, 1, kWorld);
  if (rank == 1) send(0, 1, kWorld);
  MPI_Barrier(kWorld);
}

static const struct {
  const char* name;
  void (*run)(void);
} kPatterns[] = {
    {"receives_in_a_ring", receives_in_a_ring},
    {"large_sends_in_a_ring", large_sends_in_a_ring},
    {"wrong_tag", wrong_tag},
    {"sender_ends", sender_ends},
    {"one_skips_the_allreduce", one_skips_the_allreduce},
    {"barrier_and_allreduce", barrier_and_allreduce},
    {"bcasts_of_different_roots", bcasts_of_different_roots},
    {"communicators_in_different_order", communicators_in_different_order},
    {"waitall_for_too_many", waitall_for_too_many},
    {"sendrecv_from_the_wrong_side", sendrecv_from_the_wrong_side},
    {"reduces_of_different_roots", reduces_of_different_roots},
    {"igathers_of_different_roots", igathers_of_different_roots},
    {"any_source_without_a_sender", any_source_without_a_sender},
    {"another_communicator", another_communicator},
    {"probe_without_a_message", probe_without_a_message},
    {"alltoall_and_allgather", alltoall_and_allgather},
    {"receive_from_itself", receive_from_itself},
    {"ibarrier_that_one_does_not_start", ibarrier_that_one_does_not_start},
    {"allreduce_and_reduce", allreduce_and_reduce},
    {"root_of_scatter_receives", root_of_scatter_receives},
    {"one_leaves_the_loop_early", one_leaves_the_loop_early},
    {"halo_without_one_side", halo_without_one_side},
    {"two_masters", two_masters},
    {"server_waits_for_one_more", server_waits_for_one_more},
    {"synchronous_pair", synchronous_pair},
    {"root_of_a_bcast_receives", root_of_a_bcast_receives},
    {"gather_and_allgather", gather_and_allgather},
    {"collective_in_a_branch", collective_in_a_branch},
    {"split_and_dup", split_and_dup},
    {"subgroup_against_world", subgroup_against_world},
    {"waitany_without_an_end", waitany_without_an_end},
    {"persistent_that_one_does_not_start", persistent_that_one_does_not_start},
    {"mprobe_of_nothing", mprobe_of_nothing},
    {"iallreduce_and_ibarrier", iallreduce_and_ibarrier},
    {"ialltoall_before_a_message", ialltoall_before_a_message},
    {"large_sends_to_a_root_that_gathers", large_sends_to_a_root_that_gathers},
    {"sendrecv_chain_that_is_open", sendrecv_chain_that_is_open},
    {"scan_that_the_first_skips", scan_that_the_first_skips},
    {"bridge_without_an_answer", bridge_without_an_answer},
    {"recv_of_the_wrong_rank", recv_of_the_wrong_rank},
};

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(kWorld, &rank);
  MPI_Comm_size(kWorld, &size);
  from = calloc(2 * kLarge, sizeof *from);
  to = calloc(2 * kLarge, sizeof *to);
  const int number = atoi(argv[1]);
  if (number < 1 || number > (int)(sizeof kPatterns / sizeof kPatterns[0])) return 2;
  if (rank == 0) {
    printf("pattern %d: %s\n", number, kPatterns[number - 1].name);
    fflush(stdout);
  }
  kPatterns[number - 1].run();
  MPI_Finalize();
  return 0;
}
