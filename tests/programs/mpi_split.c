/* The main thread's time has known parts, whatever the load of the machine: it computes for 0.3 s of CPU time, is
 * blocked for 0.8 s in a mutex that another thread holds asleep, and sleeps for 0.7 s in pieces of 10 ms. A helper thread
 * waits in read on a pipe all the time. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;
static int ends[2];

static void sleep_for(long milliseconds) {
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static void* hold(void* unused) {
  pthread_mutex_lock(&mutex);
  pthread_barrier_wait(&held);
  sleep_for(800);
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* wait_for_input(void* unused) {
  char byte;
  while (read(ends[0], &byte, 1) > 0) continue;
  return unused;
}

static double cpu_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char** argv) {
  pthread_t holder, reader;
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (pipe(ends) != 0) return 1;
  pthread_barrier_init(&held, NULL, 2);
  pthread_create(&reader, NULL, wait_for_input, NULL);
  pthread_create(&holder, NULL, hold, NULL);
  pthread_barrier_wait(&held);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  for (const double end = cpu_seconds() + 0.3; cpu_seconds() < end;) continue;
  for (int i = 0; i < 70; ++i) sleep_for(10);
  MPI_Barrier(MPI_COMM_WORLD);
  close(ends[1]);
  pthread_join(reader, NULL);
  pthread_join(holder, NULL);
  MPI_Finalize();
  return 0;
}
