// See workers.hpp.
#include "analyzer/workers.hpp"

#include <sched.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace ardoise::analyzer {

unsigned default_workers() {
  cpu_set_t set;
  const unsigned cores = sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set))
                                                                     : std::thread::hardware_concurrency();
  unsigned local_ranks = 0;
  if (const char* text = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE")) {
    std::from_chars(text, text + std::strlen(text), local_ranks);
  }
  return workers_for(cores, local_ranks);
}

}  // namespace ardoise::analyzer
