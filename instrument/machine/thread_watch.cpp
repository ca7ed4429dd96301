#include "instrument/machine/thread_watch.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <ctime>
#include <span>

#include "instrument/machine/kernel_call.hpp"
#include "instrument/machine/process_stat.hpp"
#include "instrument/machine/small_file.hpp"

namespace ardoise::instrument {
namespace {

std::uint64_t steady_ns() noexcept {
  timespec time{};
  call_kernel(SYS_clock_gettime, CLOCK_MONOTONIC, argument(&time));
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

// The names differ between versions of Linux: futex_wait_queue_me, futex_wait_queue, futex_do_wait; do_nanosleep,
// hrtimer_nanosleep; locks_lock_inode_wait, posix_lock_inode_wait, flock_lock_inode_wait, fcntl_setlk.
SleepReason sleep_reason(std::string_view wait_channel) noexcept {
  const auto has = [&](std::string_view part) { return wait_channel.find(part) != std::string_view::npos; };
  if (wait_channel.starts_with("futex")) return SleepReason::kThread;
  if (has("nanosleep")) return SleepReason::kTime;
  if (wait_channel.starts_with("do_wait") || wait_channel.starts_with("kernel_wait")) return SleepReason::kProgram;
  if (has("lock_inode_wait") || has("fcntl_setlk")) return SleepReason::kFileLock;
  return SleepReason::kUnknown;
}

// Documentation/scheduler/sched-stats.
ScheduledTime scheduled_time(const char* path) noexcept {
  std::array<char, 128> room;
  std::array<std::uint64_t, 3> numbers{};
  std::size_t number = 0;
  for (const char character : read_small_file(path, room)) {
    if (number == numbers.size()) break;
    if (character >= '0' && character <= '9') {
      numbers[number] = 10 * numbers[number] + static_cast<std::uint64_t>(character - '0');
    } else {
      ++number;
    }
  }
  return {numbers[0], numbers[1]};
}

ThreadWatch::ThreadWatch(std::uint32_t tid) {
  // Absolute: the survivor, another process, reads them.
  const auto path = [tid](std::span<char> to, std::string_view name) {
    fmt::format_to_n(to.data(), to.size() - 1, "/proc/{}/task/{}/{}", ::getpid(), tid, name);
  };
  path(stat_path_, "stat");
  path(schedstat_path_, "schedstat");
  path(wait_channel_path_, "wchan");
  known_ns_ = steady_ns();
  known_ = time();
}

bool ThreadWatch::look(CallPlace place) noexcept {
  const std::uint64_t now_ns = steady_ns();
  const char state = process_stat(stat_path_.data()).state;
  if (state == 0 || state == 'Z') return false;
  const bool is_asleep = state != 'R', is_outside = is_asleep && place == CallPlace::kOutside;
  if (is_outside) {
    std::array<char, 64> room;
    const auto reason = static_cast<std::size_t>(sleep_reason(read_small_file(wait_channel_path_.data(), room)));
    reasons_[reason].fetch_add(1, std::memory_order_relaxed);
  }
  note(place, is_asleep, now_ns, time());
  return is_outside;
}

void ThreadWatch::note(CallPlace place, bool is_asleep, std::uint64_t now_ns, ScheduledTime time) noexcept {
  if (is_asleep) asleep_[static_cast<std::size_t>(place)].fetch_add(1, std::memory_order_relaxed);
  last_cpu_.store(time.cpu_ns, std::memory_order_relaxed);
  last_waiting_.store(time.waiting_ns, std::memory_order_relaxed);
  if (is_looked_at_.test_and_set(std::memory_order_acquire)) return;
  compare(is_asleep, now_ns, time);
  is_looked_at_.clear(std::memory_order_release);
}

void ThreadWatch::compare(bool is_asleep, std::uint64_t now_ns, ScheduledTime time) noexcept {
  if (time.waiting_ns < known_.waiting_ns || time.cpu_ns < known_.cpu_ns || now_ns < known_ns_) return;
  const std::uint64_t passed = now_ns - known_ns_, ran = time.cpu_ns - known_.cpu_ns;
  const std::uint64_t most = passed > ran ? passed - ran : 0, waited = time.waiting_ns - known_.waiting_ns;
  // The times were read a moment after now_ns.
  constexpr std::uint64_t kMoment = 10'000'000;
  if (waited > most + kMoment) {
    wrong_.fetch_add(waited - most, std::memory_order_relaxed);
    known_.waiting_ns += waited - most;
  }
  if (!is_asleep) return;
  known_ns_ = now_ns;
  known_ = time;
}

}  // namespace ardoise::instrument
