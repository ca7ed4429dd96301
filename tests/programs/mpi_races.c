/* Random exchanges whose outcome depends on timing, one for each seed: what is sent is fixed by the seed, what receives,
   probes, tests and waits come to is not. Prints for each seed a hash of everything that all ranks saw: sources, tags,
   counts, payloads, indices, flags, whether a receive was cancelled.

   mpi_races FIRST_SEED SEEDS [threads] [extra] [first|last]
     threads: each process has a second thread that does the same on communicators of its own
     extra:   one more MPI_Iprobe in the middle, at a call site that no other run has
     first:   rank 0 is late with its messages; last: the last rank is. Others' come before them */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 64 /* messages to one rank */

static int ranks, rank, late_rank = -1;

typedef struct {
  uint64_t seed_state; /* of what the seed fixes */
  uint64_t hash;
  MPI_Comm any, tagged, cancelled;
} Player;

static uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9u;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBu;
  return x ^ x >> 31;
}
static unsigned fixed(Player* p, unsigned below) {
  p->seed_state += 0x9E3779B97F4A7C15u;
  return (unsigned)(mix(p->seed_state) % below);
}
static void see(Player* p, uint64_t value) { p->hash = mix(p->hash ^ (value + 0x632BE59BD9B4E019u)); }

/* Up to some microseconds, by the clock alone. */
static void noise(void) {
  struct timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  const long wait = (long)(mix((uint64_t)end.tv_nsec ^ (uint64_t)rank << 32) % 8 == 0 ? end.tv_nsec % 20000 : end.tv_nsec % 700);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - end.tv_sec) * 1000000000L + now.tv_nsec - end.tv_nsec < wait);
}

static void see_status(Player* p, const MPI_Status* status, const int* payload) {
  int count = 0;
  MPI_Get_count(status, MPI_INT, &count);
  see(p, (uint64_t)status->MPI_SOURCE);
  see(p, (uint64_t)status->MPI_TAG);
  see(p, (uint64_t)count);
  for (int i = 0; i < count && i < 4; ++i) see(p, (uint64_t)payload[i]);
}

/* All requests are receives into payload[i]; returns when all are complete. */
static void complete(Player* p, int n, MPI_Request* requests, int (*payload)[4], unsigned way) {
  MPI_Status statuses[MOST];
  int indices[MOST], left = n, flag = 0, index = 0, count = 0;
  switch (way) {
    case 0:
      MPI_Waitall(n, requests, statuses);
      for (int i = 0; i < n; ++i) see_status(p, &statuses[i], payload[i]);
      return;
    case 1:
      for (; left > 0; --left) {
        MPI_Waitany(n, requests, &index, statuses);
        see(p, (uint64_t)index);
        see_status(p, statuses, payload[index]);
      }
      return;
    case 2:
      while (left > 0) {
        MPI_Waitsome(n, requests, &count, indices, statuses);
        see(p, (uint64_t)count);
        for (int i = 0; i < count; ++i) see(p, (uint64_t)indices[i]), see_status(p, &statuses[i], payload[indices[i]]);
        left -= count;
      }
      return;
    case 3:
      while (left > 0) {
        MPI_Testany(n, requests, &index, &flag, statuses);
        see(p, flag ? (uint64_t)index : 1000u);
        if (flag) see_status(p, statuses, payload[index]), --left;
      }
      return;
    case 4:
      while (left > 0) {
        MPI_Testsome(n, requests, &count, indices, statuses);
        see(p, (uint64_t)count);
        for (int i = 0; i < count; ++i) see(p, (uint64_t)indices[i]), see_status(p, &statuses[i], payload[indices[i]]);
        left -= count;
      }
      return;
    case 5:
      do {
        MPI_Testall(n, requests, &flag, statuses);
        see(p, (uint64_t)flag);
      } while (!flag);
      for (int i = 0; i < n; ++i) see_status(p, &statuses[i], payload[i]);
      return;
    default:
      for (int i = 0; i < n; ++i) {
        do {
          MPI_Request_get_status(requests[i], &flag, &statuses[i]);
          see(p, (uint64_t)flag + 10);
        } while (!flag);
        do {
          MPI_Test(&requests[i], &flag, &statuses[i]);
          see(p, (uint64_t)flag);
        } while (!flag);
        see_status(p, &statuses[i], payload[i]);
      }
  }
}

/* Receives n messages of any source and tag. */
static void receive_any(Player* p, int n) {
  static _Thread_local int payload[MOST][4];
  MPI_Request requests[MOST];
  MPI_Status status;
  int flag = 0;
  while (n > 0) {
    noise();
    const unsigned way = fixed(p, 9);
    if (way == 0) {
      MPI_Recv(payload[0], 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, p->any, &status);
      see_status(p, &status, payload[0]);
      --n;
    } else if (way == 1) {
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, p->any, &status);
      see(p, (uint64_t)status.MPI_SOURCE);
      MPI_Recv(payload[0], 4, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, p->any, &status);
      see_status(p, &status, payload[0]);
      --n;
    } else if (way == 2) {
      do {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, p->any, &flag, &status);
        see(p, (uint64_t)flag);
      } while (!flag);
      MPI_Recv(payload[0], 4, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, p->any, &status);
      see_status(p, &status, payload[0]);
      --n;
    } else if (way == 3) {
      MPI_Message message = MPI_MESSAGE_NULL;
      if (fixed(p, 2) == 0) {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, p->any, &message, &status);
      } else {
        do {
          MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, p->any, &flag, &message, &status);
          see(p, (uint64_t)flag);
        } while (!flag);
      }
      MPI_Mrecv(payload[0], 4, MPI_INT, &message, &status);
      see_status(p, &status, payload[0]);
      --n;
    } else if (way == 4) { /* persistent: started several times */
      int batch = 1 + (int)fixed(p, 3);
      if (batch > n) batch = n;
      MPI_Request persistent[4];
      for (int i = 0; i < batch; ++i)
        MPI_Recv_init(payload[i], 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, p->any, &persistent[i]);
      for (int round = 0; round < 3 && n >= batch; ++round, n -= batch) {
        if (batch == 1) MPI_Start(&persistent[0]);
        else MPI_Startall(batch, persistent);
        complete(p, batch, persistent, payload, fixed(p, 7));
      }
      for (int i = 0; i < batch; ++i) MPI_Request_free(&persistent[i]);
    } else {
      int batch = 1 + (int)fixed(p, 8);
      if (batch > n) batch = n;
      for (int i = 0; i < batch; ++i)
        MPI_Irecv(payload[i], 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, p->any, &requests[i]);
      noise();
      complete(p, batch, requests, payload, fixed(p, 7));
      n -= batch;
    }
  }
}

/* A message that may come before or after its receive is cancelled. */
static void receive_or_cancel(Player* p, unsigned kind) {
  int payload[4] = {0}, flag = 0;
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  const int sent[4] = {rank, (int)kind, 7, 9};
  MPI_Request request, sending;
  MPI_Status status;
  noise();
  MPI_Isend(sent, 4, MPI_INT, right, 3, p->cancelled, &sending);
  const int source = kind % 2 == 0 ? MPI_ANY_SOURCE : left;
  MPI_Irecv(payload, 4, MPI_INT, source, 3, p->cancelled, &request);
  noise();
  if (kind >= 2) {
    MPI_Test(&request, &flag, &status);
    see(p, (uint64_t)flag);
  }
  if (flag) {
    see_status(p, &status, payload);
  } else {
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    see(p, (uint64_t)flag);
    if (flag) MPI_Recv(payload, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, p->cancelled, &status);
    see_status(p, &status, payload);
  }
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
}

static void play(Player* p, uint64_t seed, int extra) {
  /* The messages are the same on all ranks. */
  static _Thread_local int sends[MOST * 64][4];
  MPI_Request requests[MOST * 3];
  uint64_t state = mix(seed * 2 + 1);
  int arriving = 0, sending = 0;
  Player shared = {.seed_state = state};
  p->hash = mix(seed);
  p->seed_state = mix(state ^ mix((uint64_t)rank + 77));
  if (rank == late_rank) {
    const struct timespec while_others_send = {0, 300000};
    nanosleep(&while_others_send, NULL);
  }
  for (int from = 0; from < ranks; ++from) {
    const int n = (int)fixed(&shared, 10);
    for (int i = 0; i < n; ++i) {
      const int to = (int)fixed(&shared, (unsigned)ranks), tag = (int)fixed(&shared, 5);
      if (to == rank) ++arriving;
      if (from != rank) continue;
      for (int k = 0; k < 4; ++k) sends[sending][k] = (int)mix(seed + (uint64_t)(i * 4 + k));
      MPI_Isend(sends[sending], 1 + i % 4, MPI_INT, to, tag, p->any, &requests[sending]);
      ++sending;
      if (i % 3 == 0) noise();
    }
  }
  receive_any(p, arriving);
  if (extra) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, p->any, &flag, MPI_STATUS_IGNORE);
  }
  /* To the next rank with one tag; one half of the ranks gets them from anywhere. */
  const int rounds = 1 + (int)fixed(&shared, 4);
  for (int i = 0; i < rounds; ++i) {
    const int shift = 1 + (int)fixed(&shared, (unsigned)ranks - 1);
    int out = rank * 100 + i, in = 0;
    MPI_Status status;
    if (fixed(&shared, 2) == 0) {
      MPI_Sendrecv(&out, 1, MPI_INT, (rank + shift) % ranks, 5, &in, 1, MPI_INT, MPI_ANY_SOURCE, 5, p->tagged, &status);
    } else {
      in = out;
      MPI_Sendrecv_replace(&in, 1, MPI_INT, (rank + shift) % ranks, 5, MPI_ANY_SOURCE, MPI_ANY_TAG, p->tagged, &status);
    }
    see_status(p, &status, &in);
  }
  receive_or_cancel(p, fixed(&shared, 4));
  MPI_Waitall(sending, requests, MPI_STATUSES_IGNORE);
}

typedef struct {
  uint64_t first, seeds;
  uint64_t* hashes;
  Player player;
  int extra;
} Job;

static void* run(void* job_untyped) {
  Job* job = job_untyped;
  for (uint64_t i = 0; i < job->seeds; ++i) {
    play(&job->player, job->first + i, job->extra && i == job->seeds / 2 && rank == 0);
    job->hashes[i] = job->player.hash;
  }
  return NULL;
}

static void make(Player* player) {
  MPI_Comm_dup(MPI_COMM_WORLD, &player->any);
  MPI_Comm_dup(MPI_COMM_WORLD, &player->tagged);
  MPI_Comm_dup(MPI_COMM_WORLD, &player->cancelled);
}

int main(int argc, char** argv) {
  int threads = 0, extra = 0, provided = 0;
  for (int i = 3; i < argc; ++i) {
    threads = threads || strcmp(argv[i], "threads") == 0;
    extra = extra || strcmp(argv[i], "extra") == 0;
  }
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3 || ranks < 2 || ranks > 64 || (threads && provided < MPI_THREAD_MULTIPLE)) return MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 3; i < argc; ++i) {
    if (strcmp(argv[i], "first") == 0) late_rank = 0;
    if (strcmp(argv[i], "last") == 0) late_rank = ranks - 1;
  }
  const uint64_t first = strtoull(argv[1], NULL, 10), seeds = strtoull(argv[2], NULL, 10);
  Job jobs[2] = {{.first = first, .seeds = seeds, .extra = extra}, {.first = first + 1000003, .seeds = seeds}};
  for (int i = 0; i <= threads; ++i) {
    jobs[i].hashes = calloc(seeds, sizeof(uint64_t));
    make(&jobs[i].player);
  }
  pthread_t second;
  /* Threads are numbered by their first call. */
  int flag = 0;
  MPI_Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  if (threads) pthread_create(&second, NULL, run, &jobs[1]);
  run(&jobs[0]);
  if (threads) pthread_join(second, NULL);
  uint64_t* all = calloc(seeds * (uint64_t)ranks, sizeof(uint64_t));
  for (int t = 0; t <= threads; ++t) {
    MPI_Gather(jobs[t].hashes, (int)seeds, MPI_UINT64_T, all, (int)seeds, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (uint64_t i = 0; i < seeds && rank == 0; ++i) {
      uint64_t hash = 0;
      for (int r = 0; r < ranks; ++r) hash = mix(hash ^ all[(uint64_t)r * seeds + i]);
      printf("seed %llu %016llx\n", (unsigned long long)(jobs[t].first + i), (unsigned long long)hash);
    }
  }
  MPI_Finalize();
  return 0;
}
