#include "vmpi/world/finalize_fence.hpp"

#include <cstdlib>

#if defined(OPEN_MPI)
// The library's variable for the parameter.
extern "C" bool ompi_async_mpi_finalize __attribute__((weak));
#endif

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

bool finalize_waits_for_job() noexcept {
#if defined(OPEN_MPI)
  return !is_dropped && (&ompi_async_mpi_finalize == nullptr || !ompi_async_mpi_finalize);
#else
  return true;
#endif
}

void restore_fence_environment() noexcept {
  if (is_dropped) unsetenv(kParameter);
}

void fence(MPI_Comm world) noexcept {
  if (!is_dropped) return;
  PMPI_Barrier(world);
#if defined(OPEN_MPI)
  // MPI_T_init_thread makes the library read its parameters again, from an environment without our request.
  if (&ompi_async_mpi_finalize != nullptr) ompi_async_mpi_finalize = true;
#endif
}

}  // namespace ardoise::vmpi
