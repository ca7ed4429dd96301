/* A library with an MPI function of its own, which has nothing to do with the MPI library. */
int MPI_Barrier(void* comm) {
  (void)comm;
  return 4711;
}
