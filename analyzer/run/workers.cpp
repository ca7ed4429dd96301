#include "analyzer/run/workers.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

namespace ardoise::analyzer {
namespace {

// 0: launched by neither Open MPI nor MPICH.
unsigned local_ranks_of_launch() {
  unsigned local_ranks = 0;
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    if (const char* text = std::getenv(name)) {
      std::from_chars(text, text + std::strlen(text), local_ranks);
      break;
    }
  }
  return local_ranks;
}

}  // namespace

unsigned default_workers() {
  cpu_set_t set;
  const unsigned cores = sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set))
                                                                     : std::thread::hardware_concurrency();
  return workers_for(cores, local_ranks_of_launch());
}

void take_processors_of_launcher() noexcept {
  // The maximum number of processors of Linux; machines with more than 1024 refuse a set of the default size.
  constexpr std::size_t kSets = 8;
  cpu_set_t sets[kSets];
  const int bytes = static_cast<int>(::syscall(SYS_sched_getaffinity, ::getppid(), sizeof sets, sets));
  if (bytes > 0) (void)::sched_setaffinity(0, static_cast<std::size_t>(bytes), sets);
}

std::string crowding_notice(unsigned processors, unsigned local_ranks) {
  if (processors == 0 || local_ranks <= processors) return {};
  return fmt::format(
      "{} processes of this launch, analyzers included, shared the {} processor{} of a machine: much of the time in "
      "MPI "
      "can be waiting for a processor. Give every process one of its own before you trust shares and imbalance.",
      local_ranks, processors, processors == 1 ? "" : "s");
}

std::string crowding_notice() {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  return crowding_notice(processors > 0 ? static_cast<unsigned>(processors) : 0, local_ranks_of_launch());
}

double cpu_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace ardoise::analyzer
