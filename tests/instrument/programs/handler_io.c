/* A program whose signal handler writes, as signal-safety(7) allows, while the program is at what its argument says:
 *
 *   malloc   in the allocator                     loader   in dlopen() and dlclose()
 *   io       in write() itself                    threads  in threads that begin and end
 *   mpi      in MPI calls that send               end      in MPI_Finalize and exit()
 *   queries  in MPI calls that are only counted
 *   many     in write(), with call sites and files that are new
 *
 * Prints "handler N own M": the writes of the handler and of main() between MPI_Init and MPI_Finalize, but for those of
 * a handler that interrupted an MPI call. Or it does what cannot be done in a loop:
 *
 *   abort    the C library finds a broken heap and aborts; MPI's handler of SIGABRT writes
 *   vfork    children that share the memory of their parent close, duplicate and write
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int sink = -1, renewed = -1;
static volatile sig_atomic_t in_mpi;
static volatile long of_handler, uncounted;
static long own;
/* Handlers may run in several threads at a time, those of the MPI library too. */
static int handlers, stopped;

static void on_alarm(int number) {
  (void)number;
  if (sink < 0) return;
  __atomic_fetch_add(&handlers, 1, __ATOMIC_SEQ_CST);
  if (!__atomic_load_n(&stopped, __ATOMIC_SEQ_CST)) {
    /* A descriptor that is new each time, so that its name has to be found out here. */
    if (dup2(sink, renewed) != renewed || write(renewed, "x", 1) != 1) _exit(3);
    __atomic_fetch_add(in_mpi ? &uncounted : &of_handler, 1, __ATOMIC_RELAXED);
  }
  __atomic_fetch_sub(&handlers, 1, __ATOMIC_SEQ_CST);
}

/* From here on no handler writes, in whichever thread a late signal arrives. */
static void stop_handlers(void) {
  __atomic_store_n(&stopped, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&handlers, __ATOMIC_SEQ_CST) != 0) sched_yield();
}

static void alarm_every(long microseconds) {
  struct itimerval interval = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &interval, NULL);
}

static void own_write(int file) {
  if (write(file, "y", 1) == 1) ++own;
}

/* Each from a place of its own. */
#define WRITE_4(file) own_write(file), own += write(file, "a", 1), own += write(file, "b", 1), own += write(file, "c", 1)
#define WRITE_16(file) WRITE_4(file), WRITE_4(file), WRITE_4(file), WRITE_4(file)

static void* short_thread(void* unused) {
  void* volatile memory = malloc(100);
  free(memory);
  return unused;
}

static void work(const char* what, int round) {
  if (strcmp(what, "malloc") == 0) {
    void* volatile memory[64];
    for (int i = 0; i < 64; ++i) memory[i] = malloc((size_t)(2000 + round * 37 % 5000) + (size_t)i * 100);
    for (int i = 0; i < 64; ++i) free(memory[i]);
  } else if (strcmp(what, "io") == 0) {
    for (int i = 0; i < 64; ++i) own_write(sink);
  } else if (strcmp(what, "many") == 0) {
    char name[256];
    snprintf(name, sizeof name, "%s/%d", getenv("TEST_DIRECTORY"), round % 500);
    const int file = open(name, O_CREAT | O_WRONLY, 0600);
    if (file < 0) exit(4);
    WRITE_16(file);
    close(file);
    unlink(name);
  } else if (strcmp(what, "mpi") == 0) {
    int one = 1, sum = 0;
    in_mpi = 1;
    for (int i = 0; i < 64; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    in_mpi = 0;
  } else if (strcmp(what, "queries") == 0) {
    in_mpi = 1;
    for (int i = 0, size; i < 10000; ++i) MPI_Type_size(MPI_INT, &size);
    in_mpi = 0;
  } else if (strcmp(what, "loader") == 0) {
    void* library = dlopen("libutil.so.1", RTLD_NOW);
    if (library != NULL) dlclose(library);
    library = dlopen("libanl.so.1", RTLD_NOW);
    if (library != NULL) dlclose(library);
  } else if (strcmp(what, "threads") == 0) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, short_thread, NULL);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  }
}

static void vfork_children(void) {
  for (int i = 0; i < 200; ++i) {
    const pid_t child = vfork();
    if (child == 0) {
      /* As Python's subprocess: the child's descriptors are its own, its memory is not. */
      close(0);
      dup2(sink, 1);
      close(sink);
      if (write(1, "z", 1) != 1) _exit(1);
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) exit(5);
    own_write(sink);
  }
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "malloc";
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  renewed = open("/dev/null", O_WRONLY);
  sink = open("/dev/null", O_WRONLY);
  if (strcmp(what, "abort") == 0) {
    static char never_allocated[64];
    void* volatile wrong = never_allocated + 8;
    free(wrong);
    return 6;
  }
  if (strcmp(what, "vfork") == 0) {
    vfork_children();
  } else {
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    alarm_every(300);
    for (int round = 0; of_handler + uncounted < (strcmp(what, "end") == 0 ? 50 : 1500); ++round) work(what, round);
    if (strcmp(what, "end") != 0) {
      alarm_every(0);
      stop_handlers();
    }
  }
  printf("handler %ld own %ld\n", of_handler, own);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
