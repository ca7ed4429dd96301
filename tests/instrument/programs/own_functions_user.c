/* Calls the functions of own_functions.c. Ends with the number of results that are wrong. */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

extern int own_functions_called;
void dprintf(const char* format, ...);
int printf(const char* format, ...);
void* dup(void* value);
void* unshare(void* value);
int getline(char* line, int room);
double creat(double x, double y);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int faults = 0;
  dprintf("a line of the program's own log: %d\n", 7);
  faults += own_functions_called != 1;
  faults += printf("%d\n", 7) != 2;
  void* const far = (void*)(uintptr_t)0x123456789abcdef0;
  faults += dup(far) != far;
  faults += unshare(far) != far;
  char line[] = "a";
  faults += getline(line, 3) != 'a' + 3;
  faults += creat(1.5, 2.25) != 3.75;
  faults += own_functions_called != 6;
  MPI_Finalize();
  return faults;
}
