/* Starts programs as launchers do: between vfork() and exec() the child sets the actions of all signals back and
 * changes its mask, which are its own. The parent's mask stays unchanged. Computes before and after. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void work(void) {
  volatile double sum = 0;
  for (int i = 0; i < 100000000; ++i) sum += i;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int faults = 0;
  for (int run = 0; run < 3; ++run) {
    work();
    const pid_t child = vfork();
    if (child == 0) {
      for (int number = 1; number < NSIG; ++number) {
        signal(number, SIG_DFL);
        const struct sigaction action = {.sa_handler = SIG_DFL};
        sigaction(number, &action, NULL);
      }
      sigset_t all;
      sigfillset(&all);
      sigprocmask(SIG_SETMASK, &all, NULL);
      execl("/bin/true", "true", (char*)NULL);
      _exit(1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    faults += status != 0;
    for (int number = 1; number < NSIG; ++number) faults += sigismember(&blocked, number) == 1;
  }
  work();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return faults;
}
