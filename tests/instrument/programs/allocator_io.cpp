// One rank whose operator new does I/O, as allocators that look at /proc or log do: a hook that allocates must not meet
// itself.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* malloc(std::size_t bytes) {
  static thread_local bool inside = false;
  if (!inside) {
    inside = true;
    const int sink = ::open("/dev/null", O_WRONLY);
    if (sink >= 0) {
      [[maybe_unused]] const auto written = ::write(sink, "x", 1);
      ::close(sink);
    }
    inside = false;
  }
  return __libc_malloc(bytes);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 100; ++i) {
    void* volatile memory = std::malloc(64);
    std::free(memory);
  }
  const int file = ::open("/dev/zero", O_RDONLY);
  char byte = 0;
  for (int i = 0; i < 10; ++i) {
    if (::read(file, &byte, 1) != 1) return 1;
  }
  MPI_Finalize();
  return 0;
}
