/* How much of what lies where main() has its variables is not zero when it begins: "unset 123 of 8192". */
#include <mpi.h>
#include <stdio.h>

enum { kBytes = 8192 };

static __attribute__((noinline)) int count_set_bytes(void) {
  volatile unsigned char unset[kBytes];
  __asm__ volatile("" : : "r"(unset) : "memory");
  int set = 0;
  for (int i = 0; i < kBytes; ++i) set += unset[i] != 0;
  return set;
}

int main(int argc, char** argv) {
  const int set = count_set_bytes();
  MPI_Init(&argc, &argv);
  printf("unset %d of %d\n", set, kBytes);
  MPI_Finalize();
  return 0;
}
