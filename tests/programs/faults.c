// A small program with one fault per mode, or its corrected form:
//   faults FAULT [right] [FOLDER]
// Work is a fixed number of loops, never a time, so that the profile does not depend on the machine. Findings must name
// the functions' names and lines.
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kSteps = 10, kTag = 7, kSmall = 3, kLarge = 12 };
#define NOT_INLINED __attribute__((noinline))

static int rank, size, right;
static const char* folder = ".";
static volatile double sink;

// Millions of loops, in the function that calls it; about a third if all ranks work.
#define WORK(amount)                                                                             \
  do {                                                                                           \
    double x = sink;                                                                             \
    for (long i = 0; i < (amount) * (right ? 350000L : 1000000L); ++i) x = x * 0.9999999 + 1e-9; \
    sink = x;                                                                                    \
  } while (0)

static NOT_INLINED void inner_cells(long amount) { WORK(amount); }

static NOT_INLINED void sum_up(void) {
  double in = 1, out = 0;
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static NOT_INLINED void prepare_message(void) { WORK(kLarge); }

static NOT_INLINED void receive_message(double* data) {
  MPI_Recv(data, 1, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Rank 0 prepares the data for the others; right: all prepare a part.
static void late_sender(void) {
  double data = 1;
  for (int step = 0; step < kSteps; ++step) {
    if (rank == 0 || right) prepare_message();
    if (rank != 0) receive_message(&data);
    if (rank != 0) continue;
    for (int to = 1; to < size; ++to) MPI_Send(&data, 1, MPI_DOUBLE, to, kTag, MPI_COMM_WORLD);
  }
}

static NOT_INLINED void expensive_boundary(void) {
  inner_cells(kLarge / 2);
  inner_cells(kLarge / 2);
}

// Rank 2 has an extra boundary; all ranks call the function that takes the time. Samples on processors that other
// programs share are few: with fewer steps they do not tell the boundary from chance.
static void imbalance(void) {
  for (int step = 0; step < 3 * kSteps; ++step) {
    inner_cells(kSmall);
    if (rank == 2 || right) expensive_boundary();
    sum_up();
  }
}

static NOT_INLINED void compute_parameters(void) { WORK(kLarge); }

static NOT_INLINED void share_parameters(void) {
  double parameter = 1;
  MPI_Bcast(&parameter, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

// The root of MPI_Bcast is late.
static void late_root(void) {
  for (int step = 0; step < kSteps; ++step) {
    if (rank == 0 || right) compute_parameters();
    share_parameters();
  }
}

static NOT_INLINED void update_part(void) { WORK(kSmall); }

static NOT_INLINED void wait_for_turn(void) {
  int turn = 0;
  MPI_Recv(&turn, 1, MPI_INT, (rank + size - 1) % size, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static NOT_INLINED void pass_turn(void) {
  int turn = 1;
  MPI_Send(&turn, 1, MPI_INT, (rank + 1) % size, kTag, MPI_COMM_WORLD);
}

// Each rank works after the previous one; right: all at once, and then the messages.
static void serial_ring(void) {
  for (int step = 0; step < 25; ++step) {
    if (right) {
      update_part();
      update_part();
      pass_turn();
      wait_for_turn();
      continue;
    }
    if (rank != 0 || step != 0) wait_for_turn();
    update_part();
    if (rank != size - 1 || step != 24) pass_turn();
  }
}

static NOT_INLINED void send_each_cell(const double* cells, int count) {
  for (int i = 0; i < count; ++i) MPI_Send(&cells[i], 1, MPI_DOUBLE, rank ^ 1, kTag, MPI_COMM_WORLD);
}

static NOT_INLINED void receive_each_cell(double* cells, int count) {
  for (int i = 0; i < count; ++i) {
    MPI_Recv(&cells[i], 1, MPI_DOUBLE, rank ^ 1, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// A message for each number; right: one message.
static void tiny_messages(void) {
  enum { kCells = 500 };
  static double cells[kCells];
  for (int step = 0; step < (right ? kSteps : 200); ++step) {
    if (right) {
      inner_cells(kLarge);
      MPI_Sendrecv_replace(cells, kCells, MPI_DOUBLE, rank ^ 1, kTag, rank ^ 1, kTag, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
    } else {
      send_each_cell(cells, kCells);
      receive_each_cell(cells, kCells);
    }
  }
}

static int opened(const char* name, int number, int flags) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.%d", folder, name, number);
  const int file = open(path, flags, 0600);
  if (file < 0) MPI_Abort(MPI_COMM_WORLD, 2);
  return file;
}

static void checked(ssize_t moved) {
  if (moved <= 0) MPI_Abort(MPI_COMM_WORLD, 3);
}

static NOT_INLINED void write_each_value(int file, const char* values, long count) {
  for (long i = 0; i < count; i += 8) checked(write(file, values + i, 8));
}

static NOT_INLINED void write_block(int file, const char* values, long count) {
  checked(write(file, values, (size_t)count));
}

// A system call for each number; right: one for all.
static void tiny_writes(void) {
  enum { kBytes = 4000000 / 5 };
  char* values = calloc(1, kBytes);
  const int file = opened("result", rank, O_WRONLY | O_CREAT | O_TRUNC);
  if (right) {
    inner_cells(kLarge * kSteps);
    write_block(file, values, kBytes);
  } else {
    write_each_value(file, values, kBytes);
  }
  close(file);
  free(values);
}

enum { kInput = 8 << 20 };

static NOT_INLINED void read_input(char* input) {
  const int file = opened("input", 0, O_RDONLY);
  for (ssize_t all = 0, more = 1; more > 0 && all < kInput; all += more) {
    more = read(file, input + all, 1 << 20);
    checked(more);
  }
  close(file);
}

// Every rank reads the whole file in each step; right: one reads it, once.
static void same_file(void) {
  char* input = calloc(1, kInput);
  if (rank == 0) {
    const int file = opened("input", 0, O_WRONLY | O_CREAT | O_TRUNC);
    write_block(file, input, kInput);
    close(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (!right) {
    for (int step = 0; step < 25; ++step) read_input(input);
  } else {
    if (rank == 0) read_input(input);
    MPI_Bcast(input, kInput, MPI_CHAR, 0, MPI_COMM_WORLD);
    inner_cells(kLarge * kSteps);
  }
  free(input);
}

static NOT_INLINED void solve_large_block(void) { WORK(kLarge); }

static NOT_INLINED void exchange(void) {
  static double to[2], from[2];
  MPI_Request requests[4];
  const int left = (rank + size - 1) % size, next = (rank + 1) % size;
  MPI_Irecv(&from[0], 1, MPI_DOUBLE, left, kTag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&from[1], 1, MPI_DOUBLE, next, kTag, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&to[0], 1, MPI_DOUBLE, left, kTag, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(&to[1], 1, MPI_DOUBLE, next, kTag, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

// Rank 3 does more before it exchanges.
static void slow_worker(void) {
  for (int step = 0; step < kSteps; ++step) {
    inner_cells(kSmall);
    if (rank == 3 || right) solve_large_block();
    exchange();
  }
}

static NOT_INLINED void sum_without_overlap(const double* in, double* out, int count) {
  MPI_Request request;
  MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static NOT_INLINED void sum_with_overlap(const double* in, double* out, int count) {
  MPI_Request request;
  MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  inner_cells(kLarge);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// A sum that is requested and waited for at once; right: with work in between.
static void no_overlap(void) {
  enum { kCount = 250000 };
  double *in = calloc(kCount, sizeof *in), *out = calloc(kCount, sizeof *out);
  for (int step = 0; step < (right ? kSteps : 300); ++step) {
    if (right) {
      sum_with_overlap(in, out, 100);
    } else {
      sum_without_overlap(in, out, kCount);
    }
  }
  free(in);
  free(out);
}

// Long enough for enough samples also on a machine that allows few samples a second.
static NOT_INLINED void collect_statistics(void) { WORK(4 * kLarge * kSteps); }

// A function that only rank 1 calls, once.
static void one_caller(void) {
  inner_cells(kSmall * kSteps);
  if (rank == 1 || right) collect_statistics();
  MPI_Barrier(MPI_COMM_WORLD);
}

static NOT_INLINED void serial_part(void) { WORK(kLarge); }

static NOT_INLINED void threaded_part(int loops) {
#pragma omp parallel for num_threads(4) schedule(static)
  for (int part = 0; part < 4; ++part) {
    double x = part;
    for (long i = 0; i < loops * 300000L; ++i) x = x * 0.9999999 + 1e-9;
    sink = x;
  }
}

// Threads that are almost idle while the first one works; right: all work.
static void idle_threads(void) {
  for (int step = 0; step < kSteps; ++step) {
    threaded_part(right ? kSmall + 3 : 0);
    if (!right) serial_part();
  }
}

static NOT_INLINED void threaded_triangle(void) {
#pragma omp parallel for num_threads(4) schedule(static)
  for (int part = 0; part < 4; ++part) {
    double x = part;
    const long parts = right ? 4 : part == 3 ? 12 : 1;
    for (long i = 0; i < parts * 1000000L; ++i) x = x * 0.9999999 + 1e-9;
    sink = x;
  }
}

// A region whose last thread has the most work; right: all have equal work.
static void uneven_region(void) {
  for (int step = 0; step < kSteps; ++step) threaded_triangle();
}

static NOT_INLINED void duplicate_in_each_step(MPI_Comm* copy) { MPI_Comm_dup(MPI_COMM_WORLD, copy); }

// Communicators that are created and never freed.
static void leak(void) {
  for (int step = 0; step < 80; ++step) {
    inner_cells(1);
    if (right && step % 10 != 0) continue;
    MPI_Comm copy;
    duplicate_in_each_step(&copy);
    if (right) MPI_Comm_free(&copy);
  }
}

static NOT_INLINED void keep_a_copy(void) {
  enum { kCopy = 1 << 20 };
  volatile char* copy = malloc(kCopy);
  if (copy == NULL) MPI_Abort(MPI_COMM_WORLD, 4);
  for (int i = 0; i < kCopy; i += 1024) copy[i] = 1;
  if (right) free((char*)copy);
}

// Rank 1 never frees what it allocates in each step. Its page faults, 10 us each on some machines, must stay a small part
// of the work: they make it late.
static void memory_leak(void) {
  for (int step = 0; step < 60; ++step) {
    inner_cells(8);
    if (rank == 1 || right) keep_a_copy();
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

enum { kColumn = 16, kRow = 4096, kRows = 20000 };

static NOT_INLINED void write_columns(int file, const char* cells) {
  for (long row = 0; row < kRows; ++row) checked(pwrite(file, cells, kColumn, row * kRow + rank * kColumn));
}

static NOT_INLINED void write_rows(int file, const char* cells) {
  for (int part = 0; part < 4; ++part) checked(write(file, cells, 1 << 20));
}

// Ranks write columns of a matrix into one file; right: each writes its rows.
static void strided_writes(void) {
  char* cells = calloc(1, 1 << 20);
  const int file = opened("matrix", right ? rank : 0, O_WRONLY | O_CREAT);
  if (right) {
    inner_cells(kLarge * kSteps);
    write_rows(file, cells);
  } else {
    write_columns(file, cells);
  }
  close(file);
  free(cells);
}

static NOT_INLINED void append_line(const char* line) {
  const int file = opened("log", rank, O_WRONLY | O_CREAT | O_APPEND);
  checked(write(file, line, 16));
  close(file);
}

// A file is opened for each line; right: a few times.
static void many_opens(void) {
  for (int step = 0; step < (right ? 10 : 20000); ++step) {
    if (right) inner_cells(kLarge);
    append_line("a line of text.\n");
  }
}

enum { kEdge = 2048 };

static NOT_INLINED void swap_border(double* cells, int count, MPI_Datatype type) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Sendrecv(cells + kEdge - 1, count, type, next, kTag, cells, count, type, before, kTag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

// Columns of a matrix that is stored by rows; right: rows.
static void columns(void) {
  MPI_Datatype column;
  double* cells = calloc((size_t)kEdge * kEdge, sizeof(double));
  MPI_Type_vector(kEdge, 1, kEdge, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int step = 0; step < kSteps; ++step) {
    if (right) inner_cells(kLarge * kSteps);
    for (int i = 0; i < (right ? 10 : 1000); ++i) swap_border(cells, right ? kEdge : 1, right ? MPI_DOUBLE : column);
  }
  MPI_Type_free(&column);
  free(cells);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kFaults[] = {{"late_sender", late_sender},
                 {"imbalance", imbalance},
                 {"late_root", late_root},
                 {"serial_ring", serial_ring},
                 {"tiny_messages", tiny_messages},
                 {"tiny_writes", tiny_writes},
                 {"same_file", same_file},
                 {"slow_worker", slow_worker},
                 {"no_overlap", no_overlap},
                 {"one_caller", one_caller},
                 {"idle_threads", idle_threads},
                 {"uneven_region", uneven_region},
                 {"leak", leak},
                 {"memory_leak", memory_leak},
                 {"strided_writes", strided_writes},
                 {"many_opens", many_opens},
                 {"columns", columns}};
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 2; i < argc; ++i) {
    if (strcmp(argv[i], "right") == 0) {
      right = 1;
    } else {
      folder = argv[i];
    }
  }
  int found = 0;
  for (size_t i = 0; i < sizeof kFaults / sizeof *kFaults; ++i) {
    if (argc < 2 || strcmp(argv[1], kFaults[i].name) != 0) continue;
    kFaults[i].run();
    found = 1;
  }
  if (!found) fprintf(stderr, "no such fault\n");
  MPI_Finalize();
  return found ? 0 : 2;
}
