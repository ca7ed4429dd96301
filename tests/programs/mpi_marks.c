// A program with marks: 40 steps, each with a phase "solve" (an MPI_Allreduce, 4 bytes), in every tenth a phase
// "output" (a write of 1000 bytes), values, a snapshot "step" with a number, and MPI_Pcontrol around the loop. Argument
// "bad": also phases without an end or a begin, and many names. "thread": a second thread computes, opens a file and
// sets values.
// Prints its actions, the same with and without Ardoise.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "instrument/api/ardoise.h"

enum { kSteps = 40, kFirstStep = 100 };

static void pass(long us) {
  struct timespec time = {0, us * 1000};
  nanosleep(&time, NULL);
}

static volatile double sum_beside = 0;

// A fifth of a second of CPU time.
__attribute__((noinline)) static void compute_beside(void) {
  const clock_t end = clock() + CLOCKS_PER_SEC / 5;
  while (clock() < end) {
    for (int i = 0; i < 100000; ++i) sum_beside += i * 0.5;
  }
}

// 4 ms of CPU time, so that there are samples, in new memory, so that page faults are counted with them.
__attribute__((noinline)) static void touch_pages(void) {
  enum { kBytes = 1 << 20, kPage = 4096 };
  const clock_t end = clock() + CLOCKS_PER_SEC / 250;
  while (clock() < end) {
    volatile char* const pages = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < kBytes; i += kPage) pages[i] = 1;
    munmap((void*)pages, kBytes);
  }
}

static void* tell(void* unused) {
  (void)unused;
  compute_beside();
  fclose(fopen("/dev/null", "w"));
  for (int i = 0; i < 1000; ++i) ardoise_value("beside", i);
  ardoise_snapshot("step", -1);
  return NULL;
}

int main(int argc, char** argv) {
  ardoise_snapshot("too early", 1);
  MPI_Init(&argc, &argv);
  const char* const what = argc > 1 ? argv[1] : "";
  int rank, size, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  FILE* const file = fopen("/dev/null", "w");
  char* const data = calloc(1, 1000);
  setvbuf(file, NULL, _IONBF, 0);
  MPI_Pcontrol(1);
  for (int step = 0; step < kSteps; ++step) {
    char name[16];
    snprintf(name, sizeof name, "solve");  // a name that is copied
    ardoise_phase_begin(name);
    if (step == 17) pass(300000);
    if (strcmp(what, "thread") == 0) touch_pages();
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ardoise_phase_end(name);
    ardoise_value("residual", 1.0 / (1 + step));
    if (step % 10 == 9) {
      ardoise_phase_begin("output");
      fwrite(data, 1, 1000, file);
      ardoise_phase_end("output");
    }
    pass(500);
    ardoise_snapshot("step", kFirstStep + step);
  }
  MPI_Pcontrol(0);
  if (strcmp(what, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, tell, NULL);
    pthread_join(thread, NULL);
  }
  if (strcmp(what, "bad") == 0) {
    ardoise_phase_end("never begun");
    ardoise_phase_begin("never ended");
    for (int i = 0; i < 5000; ++i) {
      char name[400];
      snprintf(name, sizeof name, "name %d %0*d", i, i % 300, 0);
      ardoise_value(name, i);
    }
    for (int i = 0; i < 100; ++i) {
      char name[16];
      snprintf(name, sizeof name, "series %d", i);
      ardoise_snapshot(name, i);
    }
    ardoise_snapshot(NULL, 3);
    ardoise_mark_(77, "no such kind", 0, 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  fclose(file);
  free(data);
  MPI_Finalize();
  ardoise_snapshot("too late", 1);
  if (rank == 0) printf("%d steps on %d ranks, sum %d\n", kSteps, size, sum);
  return 0;
}
