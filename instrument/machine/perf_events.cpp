#include "instrument/machine/perf_events.hpp"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "instrument/machine/small_file.hpp"

namespace ardoise::instrument {
namespace {

constexpr PerfEvent software(std::string_view name, std::uint64_t config, std::uint64_t period, bool in_kernel) {
  return {name, PERF_TYPE_SOFTWARE, config, period, in_kernel};
}
constexpr PerfEvent hardware(std::string_view name, std::uint64_t config, std::uint64_t period) {
  return {name, PERF_TYPE_HARDWARE, config, period, false};
}

constexpr std::array kEvents{
    hardware("cycles", PERF_COUNT_HW_CPU_CYCLES, 300'000),
    hardware("instructions", PERF_COUNT_HW_INSTRUCTIONS, 300'000),
    hardware("cache-references", PERF_COUNT_HW_CACHE_REFERENCES, 10'000),
    hardware("cache-misses", PERF_COUNT_HW_CACHE_MISSES, 1'000),
    hardware("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 50'000),
    hardware("branch-misses", PERF_COUNT_HW_BRANCH_MISSES, 1'000),
    hardware("bus-cycles", PERF_COUNT_HW_BUS_CYCLES, 10'000),
    hardware("stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 100'000),
    hardware("stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 100'000),
    hardware("ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, 300'000),
    software("task-clock", PERF_COUNT_SW_TASK_CLOCK, 100'000, false),
    software("cpu-clock", PERF_COUNT_SW_CPU_CLOCK, 100'000, false),
    software("page-faults", PERF_COUNT_SW_PAGE_FAULTS, 1, false),
    software("minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, 1, false),
    software("major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1, false),
    software("alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS, 1, false),
    software("context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, 1, true),
    software("cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS, 1, true),
};

// Away from the program's descriptors: the lowest free number is given out first, and some programs rely on that.
int move_up(int descriptor) noexcept {
  if (descriptor < 0) return descriptor;
  rlimit limit{};
  const long highest =
      ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<long>(std::min<rlim_t>(limit.rlim_cur, 4096)) : 1024;
  const long moved = ::syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, std::max(highest / 2, 3L));
  const int error = errno;
  ::syscall(SYS_close, descriptor);
  return moved < 0 ? -error : static_cast<int>(moved);
}

bool event_id(int descriptor, std::uint64_t& id) noexcept {
  const int saved = errno;
  const bool known = ::syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_ID, &id) == 0;
  errno = saved;
  return known;
}

}  // namespace

const PerfEvent* find_perf_event(std::string_view name) {
  const auto found = std::find_if(kEvents.begin(), kEvents.end(), [&](const PerfEvent& e) { return e.name == name; });
  return found == kEvents.end() ? nullptr : &*found;
}

std::string perf_event_names() {
  std::string names;
  for (const PerfEvent& event : kEvents) names.append(names.empty() ? "" : ", ").append(event.name);
  return names;
}

int open_perf_event(const PerfEvent& event, std::uint32_t tid, std::uint64_t period, int group) noexcept {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.sample_period = period;
  if (period == 0) attributes.read_format = PERF_FORMAT_GROUP;
  attributes.disabled = group < 0;
  attributes.exclude_kernel = !event.counts_in_kernel;
  attributes.exclude_hv = 1;
  const long descriptor = ::syscall(SYS_perf_event_open, &attributes, tid, -1, group, PERF_FLAG_FD_CLOEXEC);
  return descriptor < 0 ? -errno : static_cast<int>(descriptor);
}

double perf_rate_limit() noexcept {
  std::array<char, 16> room;
  const std::string_view text = read_small_file("/proc/sys/kernel/perf_event_max_sample_rate", room);
  std::uint32_t rate = 0;
  std::from_chars(text.data(), text.data() + text.size(), rate);
  return rate;
}

std::string_view perf_reason(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "the kernel forbids it (see /proc/sys/kernel/perf_event_paranoid)";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "this machine does not count it";
    case EINVAL:
    case ENOSPC:
      return "the machine can't count all of them at once";
    case EMFILE:
    case ENFILE:
      return "the process has no descriptors left";
    case ENOSYS:
      return "the kernel has no perf_event_open";
    case ESRCH:
      return "the thread has ended";
    default:
      return std::strerror(error);
  }
}

int CounterGroup::open(std::span<const PerfEvent* const> events, std::uint32_t tid) noexcept {
  for (const PerfEvent* event : events) {
    if (count_ == counters_.size()) break;
    const int leader = count_ == 0 ? -1 : counters_[0].descriptor;
    const int descriptor = move_up(open_perf_event(*event, tid, 0, leader));
    if (descriptor < 0) {
      close();
      return -descriptor;
    }
    Counter& counter = counters_[count_++];
    counter = {descriptor, 0, 0};
    (void)event_id(descriptor, counter.id);
  }
  if (count_ != 0) ::syscall(SYS_ioctl, counters_[0].descriptor, PERF_EVENT_IOC_ENABLE, 0);
  return 0;
}

void CounterGroup::close() noexcept {
  for (std::size_t i = count_; i > 0; --i) {
    const Counter& counter = counters_[i - 1];
    std::uint64_t id = 0;
    // The program may have closed all descriptors and reused this number for a file of its own.
    if (event_id(counter.descriptor, id) && id == counter.id) ::syscall(SYS_close, counter.descriptor);
  }
  count_ = 0;
}

void CounterGroup::read_deltas(std::span<std::uint64_t> deltas) noexcept {
  std::fill(deltas.begin(), deltas.end(), 0);
  if (count_ == 0) return;
  struct {
    std::uint64_t count;
    std::array<std::uint64_t, kMaxCounters> values;
  } group{};
  const long got = ::syscall(SYS_read, counters_[0].descriptor, &group, sizeof(group));
  if (got < static_cast<long>(sizeof(group.count))) return;
  const std::size_t count = std::min({deltas.size(), count_, static_cast<std::size_t>(group.count)});
  for (std::size_t i = 0; i < count; ++i) {
    if (group.values[i] > counters_[i].last) deltas[i] = group.values[i] - counters_[i].last;
    counters_[i].last = group.values[i];
  }
}

}  // namespace ardoise::instrument
