/* Six kinds of programs on one rank, each a fixed amount of work: stated_cost_loop KIND prints the seconds between
 * MPI_Init and MPI_Finalize, "took 0.123". */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile double sink;

static void work(long loops) {
  double x = sink;
  for (long i = 0; i < loops; ++i) x = x * 0.9999999 + 1e-9;
  sink = x;
}

static void messages(void) {
  double out = 1, in = 0;
  for (int i = 0; i < 1000000; ++i) {
    MPI_Sendrecv(&out, 1, MPI_DOUBLE, 0, 1, &in, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  }
}

static void requests(void) {
  double out[2] = {1, 2}, in[2];
  for (int i = 0; i < 150000; ++i) {
    MPI_Request all[4];
    for (int k = 0; k < 2; ++k) MPI_Irecv(&in[k], 1, MPI_DOUBLE, 0, k, MPI_COMM_SELF, &all[k]);
    for (int k = 0; k < 2; ++k) MPI_Isend(&out[k], 1, MPI_DOUBLE, 0, k, MPI_COMM_SELF, &all[2 + k]);
    work(200);
    MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
  }
}

static void sums(void) {
  double out = 1, in = 0;
  for (int i = 0; i < 300000; ++i) {
    work(500);
    MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  }
}

static void writes(void) {
  const int file = open("/dev/null", O_WRONLY);
  for (long i = 0; i < 3000000; ++i) {
    if (pwrite(file, "01234567", 8, 8 * i) != 8) MPI_Abort(MPI_COMM_WORLD, 2);
  }
  close(file);
}

static void queries(void) {
  int rank = 0, size = 0;
  for (long i = 0; i < 20000000; ++i) {
    MPI_Comm_rank(MPI_COMM_SELF, &rank);
    MPI_Type_size(MPI_DOUBLE, &size);
    sink += rank;
  }
}

static int deep(int level) {
  if (level == 0) work(2000000);
  return level == 0 ? 0 : 1 + deep(level - 1) * 2;
}

static void computes(void) {
  for (int i = 0; i < 150; ++i) sink += deep(i % 40);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kinds[] = {{"messages", messages}, {"requests", requests}, {"sums", sums},
               {"queries", queries},   {"writes", writes},     {"computes", computes}};
  MPI_Init(&argc, &argv);
  const double begin = MPI_Wtime();
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (argc > 1 && strcmp(argv[1], kinds[i].name) == 0) kinds[i].run();
  }
  printf("took %.6f\n", MPI_Wtime() - begin);
  MPI_Finalize();
  return 0;
}
