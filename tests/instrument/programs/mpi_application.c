/* A library of a program with a file name that begins like MPI's own: libmpi_application.so. Writes 700 bytes so many times.
 */
#include <fcntl.h>
#include <unistd.h>

int mpi_application_write(const char* path, int times) {
  const char block[700] = {0};
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return 1;
  for (int i = 0; i < times; ++i) {
    if (write(file, block, sizeof(block)) != (ssize_t)sizeof(block)) return 1;
  }
  return close(file);
}
