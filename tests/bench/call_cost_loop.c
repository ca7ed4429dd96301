/* Times cheap MPI calls, for call_cost: prints "function nanoseconds" for each, the shortest of many batches. Cheap on
 * purpose: the extra cost of a tool shows best beside a call that does little itself. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { kBatches = 400, kCalls = 1000 };

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#define MEASURE(name, call)                             \
  do {                                                  \
    double shortest = 1e9;                              \
    for (int batch = 0; batch < kBatches; ++batch) {    \
      const double begin = seconds();                   \
      for (int i = 0; i < kCalls; ++i) call;            \
      const double duration = seconds() - begin;        \
      if (duration < shortest) shortest = duration;     \
    }                                                   \
    printf("%s %.3f\n", name, shortest / kCalls * 1e9); \
  } while (0)

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double in = 1, out = 0;
  int rank = 0, flag = 0;
  MPI_Request request;
  MPI_Comm self = MPI_COMM_SELF;
  MEASURE("MPI_Comm_rank", MPI_Comm_rank(self, &rank));
  MEASURE("MPI_Allreduce", MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, self));
  MEASURE("MPI_Iprobe", MPI_Iprobe(MPI_PROC_NULL, 0, self, &flag, MPI_STATUS_IGNORE));
  MEASURE("MPI_Send", MPI_Send(&in, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, self));
  MEASURE("MPI_Recv", MPI_Recv(&out, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, self, MPI_STATUS_IGNORE));
  MEASURE("MPI_Isend+Wait", {
    MPI_Isend(&in, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, self, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
  MPI_Finalize();
  return 0;
}
