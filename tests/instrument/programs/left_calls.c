/* An error handler leaves a call of MPI by longjmp, as interpreters do; a signal handler leaves another one by
 * siglongjmp. After each 2,000 reductions follow, from functions that are 10 frames deeper. */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static jmp_buf back;
static sigjmp_buf out;

static void jump(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  longjmp(back, 1);
}

static void jump_out(int number) {
  (void)number;
  siglongjmp(out, 1);
}

static __attribute__((noinline)) int deeper(int frames) {
  volatile char room[256];
  room[0] = (char)frames;
  if (frames > 0) return deeper(frames - 1) + room[0] - frames;
  int one = 1, all = 0;
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(jump, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  int sum = 0;
  if (setjmp(back) == 0) {
    int value = 0;
    MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    return 2;
  }
  for (int i = 0; i < 2000; ++i) sum += deeper(10);
  struct sigaction action = {.sa_handler = jump_out};
  sigaction(SIGALRM, &action, NULL);
  if (sigsetjmp(out, 1) == 0) {
    struct itimerval soon = {.it_value = {.tv_usec = 50000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    for (int flag = 0;;) MPI_Iprobe(0, 12345, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < 2000; ++i) sum += deeper(10);
  int world = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  return sum == 4000 * world ? 0 : 1;
}
