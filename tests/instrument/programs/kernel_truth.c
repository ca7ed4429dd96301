/* User code of known CPU time beside much time in the kernel: in MPI calls (`mpi`: run more ranks than processors, that
 * yield while they wait), in reading (`io`) or in system calls of its own (`own`: of a kind without a hook). Writes
 * into $TEST_DIRECTORY/truth.RANK: "function <name> <offset in its module> <CPU ns in it>" and "cpu <ns> <of it in the
 * kernel>" of the thread. Arguments: mpi, io or own; rounds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "truth_spin.h"
#include "truth_tell.h"

#define KEEP __attribute__((noinline, noclone))

static long long kernel_ns(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_stime.tv_sec * 1000000000ll + usage.ru_stime.tv_usec * 1000ll;
}

KEEP void kernel_truth_user(int units) {
  truth_spin(units);
  __asm__ volatile("");
}

KEEP void kernel_truth_io(int zeros) {
  static char block[1 << 18];
  for (int i = 0; i < 4; ++i) {
    if (pread(zeros, block, sizeof(block), 0) != sizeof(block)) exit(5);
  }
}

/* Pages that come and go. */
KEEP void kernel_truth_own(int units) {
  enum { kBytes = 64 * 4096 };
  for (int i = 0; i < units; ++i) {
    void* memory = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory != MAP_FAILED) syscall(SYS_munmap, memory, kBytes);
    truth_spin(5);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const mode = argc > 1 ? argv[1] : "";
  const int in_mpi = strcmp(mode, "mpi") == 0, in_io = strcmp(mode, "io") == 0;
  const int rounds = argc > 2 ? atoi(argv[2]) : 100, zeros = open("/dev/zero", O_RDONLY);
  MPI_Barrier(MPI_COMM_WORLD);
  const long long begin = cpu_ns(), kernel = kernel_ns();
  long long user = 0, own = 0, io = 0;
  double value = 0;
  for (int round = 0; round < rounds; ++round) {
    long long before = cpu_ns();
    kernel_truth_user(in_mpi ? 100 + 50 * (rank % 2) : in_io ? 100 : 20000);
    user += cpu_ns() - before;
    if (in_mpi) {
      MPI_Sendrecv(&round, 1, MPI_INT, (rank + 1) % size, 0, &value, 1, MPI_INT, (rank + size - 1) % size, 0,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (in_io) {
      before = cpu_ns();
      kernel_truth_io(zeros);
      io += cpu_ns() - before;
    } else {
      before = cpu_ns();
      kernel_truth_own(1000);
      own += cpu_ns() - before;
    }
  }
  const long long all = cpu_ns() - begin, in_kernel = kernel_ns() - kernel;
  char path[4096];
  snprintf(path, sizeof(path), "%s/truth.%d", getenv("TEST_DIRECTORY"), rank);
  FILE* file = fopen(path, "w");
  if (file == NULL) return 4;
  tell(file, "user", (void*)kernel_truth_user, user);
  tell(file, "own", (void*)kernel_truth_own, own);
  tell(file, "io", (void*)kernel_truth_io, io);
  fprintf(file, "cpu %lld %lld\n", all, in_kernel);
  fclose(file);
  MPI_Finalize();
  return 0;
}
