// See finalize_fence.hpp.
#include "vmpi/finalize_fence.hpp"

#include <cstdlib>

namespace ardoise::vmpi {
namespace {

constexpr const char* kParameter = "OMPI_MCA_async_mpi_finalize";
bool is_dropped = false;

}  // namespace

void drop_job_fence() noexcept {
#if defined(OPEN_MPI)
  is_dropped = std::getenv(kParameter) == nullptr && setenv(kParameter, "1", 0) == 0;
#endif
}

bool job_fence_is_dropped() noexcept { return is_dropped; }

void restore_fence_environment() noexcept {
  if (is_dropped) unsetenv(kParameter);
}

void fence(MPI_Comm world) noexcept {
  if (is_dropped) PMPI_Barrier(world);
}

}  // namespace ardoise::vmpi
