/* A C library with functions of its own whose names are spellings of MPI's Fortran routines, as Rmpi has them. Their
 * parameters and results are none of MPI's; some arguments go by the stack, some by floating-point registers. */
int mpi_comm_rank(void) { return 4242; }

int mpi_barrier_(int value) { return value + 1; }

long mpi_send(long a, long b, long c, long d, long e, long f, long g, long h, long i) {
  return a + 10 * (b + 10 * (c + 10 * (d + 10 * (e + 10 * (f + 10 * (g + 10 * (h + 10 * i)))))));
}

double MPI_WTIME(double a, int b, double c, double d) { return a + b * c - d; }

struct many {
  long values[6];
};
struct many mpi_recv__(long first) {
  struct many all;
  for (int i = 0; i < 6; ++i) all.values[i] = first + i;
  return all;
}

/* For a caller that has nothing to do with the library but its address, as interpreters are. */
int (*registered(void))(void) { return mpi_comm_rank; }

/* Through the library's own table of calls, as its functions call each other. */
int all_are_own(void) {
  for (int turn = 0; turn < 3; ++turn) {
    if (mpi_comm_rank() != 4242 || mpi_barrier_(turn) != turn + 1) return 0;
    if (mpi_send(1, 2, 3, 4, 5, 6, 7, 8, 9) != 987654321) return 0;
    if (MPI_WTIME(0.5, 2, 0.25, 4.0) != -3.0) return 0;
    if (mpi_recv__(turn).values[5] != turn + 5) return 0;
  }
  return 1;
}
