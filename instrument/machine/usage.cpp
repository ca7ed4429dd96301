#include "instrument/machine/usage.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "instrument/machine/thread_tasks.hpp"

namespace ardoise::instrument {
namespace {

std::uint64_t nanoseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_usec) * 1000u;
}

}  // namespace

Usage read_usage(std::uint32_t tid) noexcept {
  Usage usage;
  usage.cpu_ns = cpu_time_of(tid);
  rusage process{};
  if (::syscall(SYS_getrusage, RUSAGE_SELF, &process) == 0) {
    usage.process_cpu_ns = nanoseconds(process.ru_utime) + nanoseconds(process.ru_stime);
    usage.peak_memory_bytes = static_cast<std::uint64_t>(process.ru_maxrss) * 1024;
  }
  rusage children{};
  if (::syscall(SYS_getrusage, RUSAGE_CHILDREN, &children) == 0)
    usage.children_cpu_ns = nanoseconds(children.ru_utime) + nanoseconds(children.ru_stime);
  return usage;
}

Affinity read_affinity(std::uint32_t only) {
  std::array<std::uint64_t, 128> all{};  // 8192 processors
  std::size_t looked_at = 0;
  for (const std::uint32_t tid : only != 0 ? std::vector{only} : running_tasks()) {
    if (++looked_at > 256) break;
    std::array<std::uint64_t, 128> mask{};
    const long bytes = ::syscall(SYS_sched_getaffinity, tid, sizeof mask, mask.data());
    for (std::size_t i = 0; bytes > 0 && i < all.size(); ++i) all[i] |= mask[i];
  }
  Affinity affinity;
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  affinity.of_host = online > 0 ? static_cast<std::uint32_t>(online) : 0;
  for (std::size_t i = all.size(); i-- != 0;) {
    affinity.processors += static_cast<std::uint32_t>(std::popcount(all[i]));
    if (all[i] != 0)
      affinity.first = static_cast<std::uint32_t>(64 * i + static_cast<std::size_t>(std::countr_zero(all[i])));
  }
  return affinity;
}

}  // namespace ardoise::instrument
