// See init_mark.hpp.
#include "vmpi/world/init_mark.hpp"

#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace ardoise::vmpi {
namespace {

constexpr std::size_t kBytes = 4096;
void* mark = MAP_FAILED;

}  // namespace

void set_init_mark() noexcept {
#ifndef OPEN_MPI
  if (std::getenv("PMI_FD") == nullptr && std::getenv("PMI_PORT") == nullptr) return;
  const int file = memfd_create(kInitMark, MFD_CLOEXEC);
  if (file < 0) return;
  mark = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE, file, 0);
  close(file);
#endif
}

void clear_init_mark() noexcept {
  if (mark != MAP_FAILED) munmap(mark, kBytes);
  mark = MAP_FAILED;
}

}  // namespace ardoise::vmpi
