#include "analyzer/launch/warm_start.hpp"

#include <mpi.h>
#include <unistd.h>

#include <thread>

#include "instrument/machine/perf_events.hpp"

namespace ardoise::analyzer {

WarmStart::WarmStart() {
  // In parallel with MPI's components, which mostly wait for devices.
  std::thread kernel(
      [this] { event_ = instrument::open_perf_event(*instrument::find_perf_event("task-clock"), 0, 0, -1); });
#if defined(OPEN_MPI)
  int level = 0;
  has_mpi_ = MPI_T_init_thread(MPI_THREAD_SINGLE, &level) == MPI_SUCCESS;
#endif
  kernel.join();
}

WarmStart::~WarmStart() {
  if (event_ >= 0) ::close(event_);
#if defined(OPEN_MPI)
  if (has_mpi_) MPI_T_finalize();
#endif
}

}  // namespace ardoise::analyzer
