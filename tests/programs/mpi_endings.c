/* Two or more ranks that count down together until rank 1 ends in the way of the first argument, in crash(). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static sigjmp_buf before_the_fault;

static void leave(int number) { siglongjmp(before_the_fault, number); }

__attribute__((noinline)) static void crash(const char* how) {
  if (!strcmp(how, "segv")) *(volatile int*)16 = 1;
  if (!strncmp(how, "left", 4)) { /* its handler leaves by a jump, and the program goes on, until it ends otherwise */
    signal(SIGSEGV, leave);
    if (sigsetjmp(before_the_fault, 1) == 0) *(volatile int*)16 = 1;
    usleep(300000);
    how = how + 5;
  }
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "mpi_abort")) MPI_Abort(MPI_COMM_WORLD, 42);
  if (!strcmp(how, "exit")) exit(3);
  if (!strcmp(how, "_exit")) _exit(4);
  if (!strcmp(how, "exec")) {
    execl("/nowhere/at/all", "all", (char*)NULL);
    /* It computes for a while: no timer may interrupt it. */
    execlp("sh", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 6", (char*)NULL);
  }
  if (!strcmp(how, "fexecve")) {
    char* const arguments[] = {"sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 6", NULL};
    fexecve(open("/bin/sh", O_RDONLY), arguments, environ);
  }
  if (!strcmp(how, "kill")) raise(SIGKILL);
  if (!strcmp(how, "user")) raise(SIGUSR1);
  if (!strcmp(how, "error")) MPI_Send(&rank, 1, MPI_INT, size, 7, MPI_COMM_WORLD);
  if (!strcmp(how, "plugin")) ((void (*)(void))dlsym(dlopen(PLUGIN, RTLD_NOW), "crash_in_plugin"))();
  __asm__ volatile(""); /* a call at the end would leave no frame */
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 100; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) usleep(300000); /* the others are in MPI_Recv then: MPICH ends them at once */
  if (rank == 1 && !strcmp(argv[1], "return")) return 7;
  if (rank == 1) crash(argv[1]);
  int message;
  MPI_Recv(&message, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
