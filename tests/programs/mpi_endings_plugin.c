/* Opened by mpi_endings.c after its last call of MPI. */
__attribute__((noinline)) void crash_in_plugin(void) { *(volatile int*)16 = 1; }
