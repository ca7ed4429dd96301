#include "instrument/sampling/sample_timer.hpp"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

namespace ardoise::instrument {
namespace {

// The period of a perf event cannot be changed without a descriptor: the event is created again, which takes about 25
// us. So it is jittered only now and then: rarely enough to cost little, often enough that few samples are in step with
// the program.
constexpr std::uint64_t kNanosecondsPerJitter = 20'000'000;
constexpr std::uint32_t kMaxSamplesPerJitter = 256;

std::uint32_t samples_per_jitter(const SampleTrigger& trigger, std::uint64_t period) {
  if (trigger.mode == SampleMode::kEvent) return kMaxSamplesPerJitter;
  const std::uint64_t samples = kNanosecondsPerJitter / (period + 1);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(samples, 1, kMaxSamplesPerJitter));
}

// The kernel's minimum period for its clocks for any requested period.
constexpr std::uint64_t kLeastClockPeriod = 10'000;

bool is_clock(const PerfEvent& event) {
  return event.type == PERF_TYPE_SOFTWARE &&
         (event.config == PERF_COUNT_SW_CPU_CLOCK || event.config == PERF_COUNT_SW_TASK_CLOCK);
}

constexpr std::size_t kPage = 4096;

// Period of the kernel's own clock, ns; 0: unknown.
std::uint64_t kernel_tick() noexcept {
  timespec tick{};
  if (::clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_sec != 0) return 0;
  return static_cast<std::uint64_t>(std::max(tick.tv_nsec, 0L));
}

clockid_t cpu_clock_of(std::uint32_t tid) {
  // clock_getcpuclockid(3) for a thread: the per-thread scheduling clock in the kernel's code.
  return static_cast<clockid_t>(~tid << 3 | 6u);
}

}  // namespace

// Uniform in [3/4, 5/4) of the period; xorshift64.
std::uint64_t SampleTimer::jittered(std::uint64_t period) noexcept {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  if (period < 8) return period;
  const std::uint64_t span = period / 2;
  return period - period / 4 + random_ % span;
}

int SampleTimer::start(const SampleTrigger& trigger, std::uint32_t tid, std::uint64_t period,
                       std::uint64_t first) noexcept {
  const SampleTrigger before = std::exchange(trigger_, trigger);
  tid_ = tid;
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  random_ = (static_cast<std::uint64_t>(time.tv_nsec) << 20 ^ tid) | 1u;
  const int error = trigger.event != nullptr ? start_event(period) : start_timer(first != 0 ? first : jittered(period));
  if (error != 0) {
    trigger_ = before;
  } else if (trigger.event != nullptr) {
    stop_timer();
  } else {
    stop_event();
  }
  return error;
}

int SampleTimer::start_event(std::uint64_t period) noexcept {
  std::uint64_t wanted = jittered(period);
  if (is_clock(*trigger_.event)) wanted = std::max(wanted, kLeastClockPeriod);
  if (const int error = map_event(*trigger_.event, wanted); error != 0) return error;
  period_ = period;
  armed_ = wanted;
  until_jitter_ = samples_per_jitter(trigger_, period);
  return 0;
}

// On success the previous event ends. On error it continues.
int SampleTimer::map_event(const PerfEvent& event, std::uint64_t period) noexcept {
  const int descriptor = open_perf_event(event, tid_, period, -1);
  if (descriptor < 0) return -descriptor;
  struct {
    int type;
    int tid;
  } const owner{0 /* F_OWNER_TID */, static_cast<int>(tid_)};
  constexpr int kSetOwnerEx = 15, kSetSignal = 10;  // F_SETOWN_EX, F_SETSIG
  bool good = ::syscall(SYS_fcntl, descriptor, kSetOwnerEx, &owner) == 0 &&
              ::syscall(SYS_fcntl, descriptor, kSetSignal, trigger_.signal) == 0 &&
              ::syscall(SYS_fcntl, descriptor, F_SETFL, O_ASYNC | O_NONBLOCK) == 0;
  long page = -1;
  if (good) page = ::syscall(SYS_mmap, nullptr, kPage, PROT_READ, MAP_SHARED, descriptor, 0L);
  good = page != -1 && ::syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_ENABLE, 0) == 0;
  const int error = errno;
  ::syscall(SYS_close, descriptor);
  if (!good) {
    if (page != -1) ::syscall(SYS_munmap, page, kPage);
    return error != 0 ? error : EINVAL;
  }
  stop_event();
  page_ = reinterpret_cast<void*>(page);
  return 0;
}

int SampleTimer::start_timer(std::uint64_t first) noexcept {
  struct {  // the kernel's sigevent; the library's has other names for the thread in every version
    std::uint64_t value;
    int signal;
    int notify;
    int tid;
    int padding[11];
  } event{0, trigger_.signal, 4 /* SIGEV_THREAD_ID */, static_cast<int>(tid_), {}};
  static_assert(sizeof(event) == 64);
  int timer = 0;  // by system call, since timer_create() allocates memory
  if (::syscall(SYS_timer_create, cpu_clock_of(tid_), &event, &timer) != 0) return errno;
  stop_timer();
  early_ = trigger_.mode == SampleMode::kCpu ? kernel_tick() / 2 : 0;
  timer_ = reinterpret_cast<timer_t>(static_cast<std::intptr_t>(timer));
  has_timer_ = true;
  set_timer(first);
  return 0;
}

// One shot: the program runs for a whole period between two samples even if the handler is slow.
void SampleTimer::set_timer(std::uint64_t time) noexcept {
  const std::uint64_t wait = time > early_ ? time - early_ : 1;
  armed_ = time;
  itimerspec at{};
  at.it_value.tv_sec = static_cast<time_t>(wait / 1'000'000'000u);
  at.it_value.tv_nsec = static_cast<long>(wait % 1'000'000'000u);
  ::syscall(SYS_timer_settime, static_cast<int>(reinterpret_cast<std::intptr_t>(timer_)), 0, &at, nullptr);
}

bool SampleTimer::next(std::uint64_t period) noexcept {
  if (has_timer_) {
    set_timer(jittered(period));
    return false;
  }
  if (page_ == nullptr) return false;
  if (period == period_ && --until_jitter_ != 0) return false;
  if (start_event(period) == 0) return true;
  // It cannot be created again at the moment (no free descriptor): the old one continues.
  until_jitter_ = samples_per_jitter(trigger_, period);
  return false;
}

void SampleTimer::stop_timer() noexcept {
  if (has_timer_) ::syscall(SYS_timer_delete, static_cast<int>(reinterpret_cast<std::intptr_t>(timer_)));
  has_timer_ = false;
}

void SampleTimer::stop_event() noexcept {
  if (page_ != nullptr) ::syscall(SYS_munmap, page_, kPage);
  page_ = nullptr;
}

void SampleTimer::stop() noexcept {
  stop_timer();
  stop_event();
}

double SampleTimer::limit_of(const SampleTrigger& trigger) noexcept {
  if (trigger.mode != SampleMode::kCpu) return 0;
  // Above its limit the kernel omits ticks, which would look like time in the kernel. Half, since periods are jittered.
  if (trigger.event != nullptr) return perf_rate_limit() / 2;
  const std::uint64_t tick = kernel_tick();
  return tick == 0 ? 0 : 1e9 / static_cast<double>(tick);
}

bool SampleTimer::timers_spare_system_calls() noexcept {
  utsname system{};
  if (::uname(&system) != 0) return false;
  const char* const end = system.release + std::strlen(system.release);
  unsigned major = 0, minor = 0;
  const auto [dot, error] = std::from_chars(system.release, end, major);
  if (error != std::errc() || dot == end) return false;
  std::from_chars(dot + 1, end, minor);
  return major > 5 || (major == 5 && minor >= 11);
}

}  // namespace ardoise::instrument
