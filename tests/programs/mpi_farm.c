/* A master that hands out tasks and adds up what comes back, in the order in which it comes: a floating-point sum that
   differs from run to run. Prints it, and how long that took.

   mpi_farm TASKS MICROSECONDS [wildcard|test|waitany|stream|posted [lost]]
     wildcard: MPI_Recv from any source (default)
     test:     MPI_Irecv from any source and MPI_Test
     waitany:  a receive for each worker and MPI_Waitany
     stream:   each worker does all tasks without being asked, and says when it has done them; MPI_Recv from any source
     posted:   likewise; MPI_Irecv from any source and MPI_Wait
     lost:     nothing comes back of task 3, so that the master waits for ever */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double work(int task, double seconds) {
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) {
  }
  return 1.0 / (1.0 + task) * (task % 2 == 0 ? 1e8 : -1e-3);
}

static double master(int tasks, int workers, const char* way) {
  double sum = 0;
  int given = 0, stop = -1;
  double* values = calloc((size_t)workers, sizeof(double));
  MPI_Request* requests = malloc((size_t)workers * sizeof(MPI_Request));
  for (int w = 0; w < workers; ++w) {
    MPI_Irecv(&values[w], 1, MPI_DOUBLE, w + 1, 1, MPI_COMM_WORLD, &requests[w]);
    if (strcmp(way, "waitany") != 0) {
      MPI_Cancel(&requests[w]);
      MPI_Wait(&requests[w], MPI_STATUS_IGNORE);
    }
  }
  for (; given < workers && given < tasks; ++given) MPI_Send(&given, 1, MPI_INT, given + 1, 0, MPI_COMM_WORLD);
  for (int done = 0; done < tasks; ++done) {
    MPI_Status status;
    double value = 0;
    int worker = 0, flag = 0;
    if (strcmp(way, "waitany") == 0) {
      MPI_Waitany(workers, requests, &worker, &status);
      value = values[worker];
      MPI_Irecv(&values[worker], 1, MPI_DOUBLE, worker + 1, 1, MPI_COMM_WORLD, &requests[worker]);
    } else if (strcmp(way, "test") == 0) {
      MPI_Request request;
      MPI_Irecv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
      do MPI_Test(&request, &flag, &status);
      while (!flag);
    } else {
      MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    }
    sum += value;
    if (given < tasks) MPI_Send(&given, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD), ++given;
  }
  for (int w = 0; w < workers; ++w) {
    MPI_Send(&stop, 1, MPI_INT, w + 1, 0, MPI_COMM_WORLD);
    if (requests[w] != MPI_REQUEST_NULL) {
      MPI_Cancel(&requests[w]);
      MPI_Wait(&requests[w], MPI_STATUS_IGNORE);
    }
  }
  free(values);
  free(requests);
  return sum;
}

static double gather(int workers, int posts) {
  double sum = 0;
  for (int working = workers; working > 0;) {
    double value = 0;
    MPI_Status status;
    if (posts) {
      MPI_Request request;
      MPI_Irecv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, &status);
    } else {
      MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    }
    sum += value;
    if (status.MPI_TAG == 2) --working;
  }
  return sum;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3 || ranks < 2) return MPI_Abort(MPI_COMM_WORLD, 1);
  const int lost = argc > 4 && strcmp(argv[4], "lost") == 0 ? 3 : -1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const int posts = argc > 3 && strcmp(argv[3], "posted") == 0;
  if (posts || (argc > 3 && strcmp(argv[3], "stream") == 0)) {
    const int tasks = atoi(argv[1]);
    if (rank == 0) printf("sum %a\n", gather(ranks - 1, posts));
    for (int task = 1; rank != 0 && task <= tasks; ++task) {
      const double value = work(task, atof(argv[2]) * 1e-6);
      MPI_Send(&value, 1, MPI_DOUBLE, 0, task == tasks ? 2 : 1, MPI_COMM_WORLD);
    }
  } else if (rank == 0) {
    const double sum = master(atoi(argv[1]), ranks - 1, argc > 3 ? argv[3] : "wildcard");
    printf("sum %a\n", sum);
    fprintf(stderr, "%.4f s\n", MPI_Wtime() - begin);
  } else {
    for (int task = 0;;) {
      MPI_Recv(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (task < 0) break;
      const double value = work(task, atof(argv[2]) * 1e-6);
      if (task != lost) MPI_Send(&value, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
