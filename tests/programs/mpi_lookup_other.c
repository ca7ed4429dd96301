/* A library with an MPI function of its own, which is unrelated to the MPI library. */
int MPI_Barrier(void* comm) {
  (void)comm;
  return 4711;
}
