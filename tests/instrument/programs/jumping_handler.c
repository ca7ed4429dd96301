/* A timer's handler leaves I/O by siglongjmp, as programs end calls that take too long. MPI is called while the signal
 * is blocked. Prints the calls of MPI_Barrier. */
#include <fcntl.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf next;
static volatile sig_atomic_t jumps;

static void leave(int signal) {
  (void)signal;
  ++jumps;
  siglongjmp(next, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static int barriers, file;
  file = open("/dev/null", O_WRONLY);
  static sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  struct sigaction action = {.sa_handler = leave};
  sigaction(SIGALRM, &action, 0);
  static struct itimerval timer;
  while (jumps < 20000) {
    if (sigsetjmp(next, 1) == 0) {
      timer.it_value.tv_usec = 1 + jumps % 20;
      setitimer(ITIMER_REAL, &timer, 0);
      for (;;) (void)!write(file, "x", 1);
    }
    sigprocmask(SIG_BLOCK, &alarm_only, 0);
    if (jumps % 100 == 0) {
      MPI_Barrier(MPI_COMM_SELF);
      ++barriers;
    }
    sigprocmask(SIG_UNBLOCK, &alarm_only, 0);
  }
  sigprocmask(SIG_BLOCK, &alarm_only, 0);
  printf("barriers %d\n", barriers);
  MPI_Finalize();
  return 0;
}
