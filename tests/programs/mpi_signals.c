/* A program's view of the signals that would end it: actions are set, read, used, reset, ignored, and left by a
 * jump. Prints one line each; the same lines are expected with and without Ardoise. */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM};
static volatile int handled, code;
static volatile pid_t sender;
static void* volatile address;
static sigjmp_buf back;

static void plain(int number) { handled = number; }
static void detailed(int number, siginfo_t* information, void* context) {
  (void)context;
  handled = number;
  code = information->si_code;
  sender = information->si_pid;
}
static void jump(int number, siginfo_t* information, void* context) {
  (void)context;
  handled = number;
  address = information->si_addr;
  siglongjmp(back, 1);
}

static const char* name_of(const struct sigaction* action) {
  if (action->sa_handler == SIG_DFL) return "default";
  if (action->sa_handler == SIG_IGN) return "ignored";
  if (action->sa_handler == plain) return "plain";
  return action->sa_sigaction == detailed ? "detailed" : "handler";
}
static struct sigaction action_of(int number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  sigaction(number, NULL, &action);
  return action;
}
static void say_action(const char* when, int number) {
  struct sigaction action = action_of(number);
  printf("%s: signal %d %s, flags %#x, blocks SIGUSR1 %d\n", when, number, name_of(&action), action.sa_flags,
         sigismember(&action.sa_mask, SIGUSR1));
}

static int child_status(int number, void (*handler)(int)) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    if (handler != SIG_ERR) signal(number, handler);
    raise(number);
    _exit(5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status & 0x7f ? 128 + (status & 0x7f) : WEXITSTATUS(status);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 6; ++i) say_action("at first", watched[i]);

  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = detailed;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaction(SIGTERM, &action, &before);
  printf("before: %s\n", name_of(&before));
  say_action("set", SIGTERM);
  kill(getpid(), SIGTERM);
  printf("handled %d, code %d, by itself %d\n", handled, code, sender == getpid());

  printf("signal() gives: %s\n", signal(SIGTERM, plain) == (void (*)(int))detailed ? "detailed" : "another");
  say_action("by signal()", SIGTERM);
  handled = 0;
  raise(SIGTERM);
  printf("handled %d\n", handled);
  signal(SIGTERM, SIG_IGN);
  raise(SIGTERM);
  say_action("ignored", SIGTERM);

  action.sa_flags = SA_SIGINFO | SA_RESETHAND;
  sigaction(SIGFPE, &action, NULL);
  raise(SIGFPE);
  printf("handled %d\n", handled);
  say_action("after one", SIGFPE);
  printf("refused: %d\n", sigaction(SIGKILL, &action, NULL));

  /* A fault on a stack of its own, left by a jump, twice. */
  static char room[1 << 16];
  stack_t stack;
  memset(&stack, 0, sizeof stack);
  stack.ss_sp = room;
  stack.ss_size = sizeof room;
  sigaltstack(&stack, NULL);
  action.sa_sigaction = jump;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, NULL);
  for (int i = 0; i < 2; ++i) {
    if (sigsetjmp(back, 1) == 0) *(volatile int*)(long)(16 + i) = 1;
    printf("handled %d at %p\n", handled, (void*)address);
  }
  sigaltstack(NULL, &stack);
  printf("stack for signals: %d\n", stack.ss_sp == room);
  signal(SIGSEGV, SIG_DFL);

  for (int i = 0; i < 6; ++i)
    printf("children: signal %d: %d, by default %d, ignored %d\n", watched[i], child_status(watched[i], SIG_ERR),
           child_status(watched[i], SIG_DFL), child_status(watched[i], SIG_IGN));
  fflush(stdout);
  MPI_Finalize();
  for (int i = 0; i < 6; ++i) say_action("at last", watched[i]);
  return 0;
}
